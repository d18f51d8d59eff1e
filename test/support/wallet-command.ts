import { runCommandLine } from '../../cli/command-line';
import { createTerminal } from '../../cli/shell/terminal';

/** Runs the command line in this process and returns its exit code and output. */
export async function runWallet(
  args: readonly string[],
  {
    stdin,
    variables,
  }: {
    readonly stdin?: Parameters<typeof createTerminal>[2];
    readonly variables?: Parameters<typeof runCommandLine>[2];
  } = {},
) {
  const written = { stdout: '', stderr: '' };
  const output = (name: keyof typeof written) => ({
    write: (text: string) => {
      written[name] += text;
    },
  });
  const terminal = createTerminal(output('stdout'), output('stderr'), stdin);
  const exitCode = await runCommandLine(args, terminal, variables);
  return { exitCode, ...written };
}

/** Runs a command that must succeed and returns its stdout. @throws Error with its stderr otherwise */
export async function wallet(...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runWallet(args);
  if (exitCode !== 0) throw new Error(`wallet ${args.join(' ')} exited with ${exitCode}: ${stderr}`);
  return stdout.trimEnd();
}
