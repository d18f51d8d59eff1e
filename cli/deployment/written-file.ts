import { CommandFailed } from '../failure';

/** Has the file of --write written. @throws CommandFailed when it cannot be */
export function writeNamed(file: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw new CommandFailed(
      `${file} cannot be written: ${(error as Error).message}.`,
      'Give another file with --write.',
    );
  }
}
