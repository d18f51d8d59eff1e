import { writeFileSync } from 'node:fs';
import { CommandFailed } from './failure';

/** Writes the file of --write. @throws CommandFailed when it cannot be written */
export function writeNamed(file: string, content: object): void {
  try {
    writeFileSync(file, `${JSON.stringify(content, undefined, 2)}\n`);
  } catch (error) {
    throw new CommandFailed(
      `${file} cannot be written: ${(error as Error).message}.`,
      'Give another file with --write.',
    );
  }
}
