import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { createProgram, runCommandLine } from '../../cli/command-line';
import { createTerminal } from '../../cli/shell/terminal';

/** Runs the command line in this process and returns its exit code and output. @param columns of its terminal. @default - none */
export async function runWallet(
  args: readonly string[],
  { variables, columns }: { variables?: Parameters<typeof runCommandLine>[2]; columns?: number } = {},
) {
  const written = { stdout: '', stderr: '' };
  const output = (name: keyof typeof written) => ({
    columns,
    write: (text: string) => {
      written[name] += text;
    },
  });
  const terminal = createTerminal(output('stdout'), output('stderr'));
  const exitCode = await runCommandLine(args, terminal, variables);
  return { exitCode, ...written };
}

/** Runs a command that must succeed and returns its stdout. @throws Error with its stderr otherwise */
export async function wallet(...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runWallet(args);
  if (exitCode !== 0) throw new Error(`wallet ${args.join(' ')} exited with ${exitCode}: ${stderr}`);
  return stdout.trimEnd();
}

export const silent = { result() {}, note() {}, bold: String, bad: String, alarm: String };

/** The commands with an action, by name, such as `webhook add`. */
export const walletCommands = leaves(createProgram(silent), []);

function leaves(command: Command, words: readonly string[]): [path: string, command: Command][] {
  if (command.commands.length === 0) return [[words.join(' '), command]];
  const visible = command.createHelp().visibleCommands(command);
  const own = visible.filter((each) => each.name() !== 'help');
  return own.flatMap((each) => leaves(each, [...words, each.name()]));
}

export const flagsOf = (path: string): readonly (string | undefined)[] | undefined =>
  walletCommands.find(([known]) => known === path)?.[1].options.map(({ long }) => long);

/** As `npm start` and `cdk deploy --outputs-file` do. @param endpoints of this machine. @default - none: AWS @returns the file */
export function writeOutputs(folder: string, outputs: object | string, endpoints?: object): string {
  const file = join(folder, 'outputs.json');
  writeFileSync(file, typeof outputs === 'string' ? outputs : JSON.stringify(outputs));
  if (endpoints) writeFileSync(join(folder, 'endpoints.json'), JSON.stringify(endpoints));
  return file;
}
