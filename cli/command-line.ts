import { type Command, CommanderError } from 'commander';
import { CommandFailed } from './failure';
import { createProgram } from './program';
import type { Terminal } from './terminal';

/**
 * Runs one command and returns the exit code of the process: 0, 1 (it failed) or 2 (used wrongly).
 *
 * @param variables such as `process.env`. @default - none
 */
export async function runCommandLine(
  args: readonly string[],
  terminal: Terminal,
  variables: Readonly<Record<string, string | undefined>> = {},
): Promise<number> {
  try {
    const program = createProgram(terminal, variables, args[0]);
    await program.parseAsync(formatHelp(program, args), { from: 'user' });
    return 0;
  } catch (error) {
    return report(error, terminal);
  }
}

function report(error: unknown, terminal: Terminal): number {
  // Commander has written its message already. It exits with 1 for what is used wrongly, with 0 after help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof CommandFailed) {
    terminal.note(terminal.alarm(`error: ${error.message}`));
    if (error.remedy) terminal.note(error.remedy);
    return error.exitCode;
  }
  terminal.note(terminal.alarm('error: this is a bug of the command line.'));
  terminal.note(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return 1;
}

/**
 * Rewrites `help webhook add` to `webhook add --help`: commander's own help command knows the first word only, and
 * prints everything for one that it does not know. An unknown word stays as it is, to be refused like a command.
 */
function formatHelp(program: Command, args: readonly string[]): readonly string[] {
  const [first, ...words] = args;
  if (first !== 'help') return args;
  const path: string[] = [];
  let command = program;
  for (const word of words) {
    if (command.commands.length === 0) break;
    path.push(word);
    const next = command.commands.find((each) => each.name() === word);
    if (!next) return path;
    command = next;
  }
  return [...path, '--help'];
}
