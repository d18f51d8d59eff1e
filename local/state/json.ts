import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { StartError } from '../start-error';

/** Writes a file atomically. Only the owner may read it. */
export function writeText(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, file);
}

export const writeJson = (file: string, document: unknown): void =>
  writeText(file, `${JSON.stringify(document, null, 2)}\n`);

/** Reads a JSON document; undefined if the file does not exist. */
export function readJson<T>(file: string): T | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch {
    throw new StartError(
      `${file} is damaged. Start over with --fresh, which also deletes the environment's data: it depends on this file.`,
    );
  }
}
