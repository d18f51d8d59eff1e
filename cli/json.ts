import { readFileSync, writeFileSync } from 'node:fs';
import { CommandFailed } from './failure';

/** @returns undefined for a text that is not JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The fields of a JSON object; none for any other text. */
export const readFields = (text: string): Readonly<Record<string, unknown>> => ({
  ...Object(parseJson(text)),
});

/** @throws CommandFailed for a missing or damaged file */
// biome-ignore lint/suspicious/noExplicitAny: files of others
export function readJson(file: string, remedy: string): any {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new CommandFailed(`${file} cannot be read: ${(error as Error).message}.`, remedy);
  }
}

/** @throws CommandFailed when the file cannot be written */
export function writeJson(file: string, content: object): void {
  try {
    writeFileSync(file, `${JSON.stringify(content, undefined, 2)}\n`);
  } catch (error) {
    throw new CommandFailed(`${file} cannot be written: ${(error as Error).message}.`);
  }
}
