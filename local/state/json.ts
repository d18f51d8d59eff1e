import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { StartError } from '../shared/start-error';

/** Writes a file atomically into an existing folder: a deleted state folder stays deleted. Only the owner may read it. */
export function writeText(file: string, text: string): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, file);
}

export const writeJson = (file: string, document: unknown): void =>
  writeText(file, `${JSON.stringify(document, null, 2)}\n`);

/**
 * Reads a JSON document; undefined if the file does not exist.
 *
 * @param remedy for a damaged file. @default - it holds what the environment's data depends on
 */
export function readJson<T>(
  file: string,
  remedy = "Start over with --fresh, which also deletes the environment's data: it depends on this file.",
): T | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch {
    throw new StartError(`${file} is damaged. ${remedy}`);
  }
}
