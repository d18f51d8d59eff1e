import { readFileSync, writeFileSync } from 'node:fs';
import { CommandFailed } from './failure';

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The fields of a JSON object; empty for any other text. */
export const readFields = (text: string): Readonly<Record<string, unknown>> => ({
  ...Object(parseJson(text)),
});

/** Reads a JSON object from a file. @throws CommandFailed that quotes nothing of it: another file may have a password */
// biome-ignore lint/suspicious/noExplicitAny: files that other tools write
export function readJson(file: string, remedy: string): any {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandFailed(`Cannot read ${file}: ${reasonOf(error)}.`, remedy);
  }
  const value = parseJson(text);
  if (value === undefined) throw new CommandFailed(`${file} is not JSON.`, remedy);
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new CommandFailed(`${file} is not a JSON object.`, remedy);
  return value;
}

export function writeJson(file: string, content: object): void {
  try {
    writeFileSync(file, `${JSON.stringify(content, undefined, 2)}\n`);
  } catch (error) {
    throw new CommandFailed(`Cannot write ${file}: ${reasonOf(error)}.`);
  }
}

/** Takes the words out of Node.js's `ENOENT: no such file or directory, open '/file'`. */
const reasonOf = (error: unknown) => (error as Error).message.replace(/^E[A-Z]+: /, '').replace(/, .*/, '');
