import { readFileSync, writeFileSync } from 'node:fs';
import { CommandFailed } from './failure';

/** @returns undefined if the text is not JSON */
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

/** @throws CommandFailed if the file is missing or damaged */
// biome-ignore lint/suspicious/noExplicitAny: files that other tools write
export function readJson(file: string, remedy: string): any {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new CommandFailed(`Cannot read ${file}: ${(error as Error).message}.`, remedy);
  }
}

/** @throws CommandFailed if writing fails */
export function writeJson(file: string, content: object): void {
  try {
    writeFileSync(file, `${JSON.stringify(content, undefined, 2)}\n`);
  } catch (error) {
    throw new CommandFailed(`Cannot write ${file}: ${(error as Error).message}.`);
  }
}
