import { runCommandLine } from '../../lib/operations/command-line';
import { createTerminal } from '../../lib/operations/terminal';

/**
 * Runs the command line in this process and gives what it writes to stdout.
 *
 * @throws Error with what it writes to stderr when its exit code is not 0
 */
export async function wallet(...args: string[]): Promise<string> {
  const said = { stdout: '', stderr: '' };
  const output = (name: keyof typeof said) => ({
    write: (text: string) => {
      said[name] += text;
    },
  });
  const exitCode = await runCommandLine(args, createTerminal(output('stdout'), output('stderr')));
  if (exitCode !== 0) throw new Error(`wallet ${args.join(' ')} exited with ${exitCode}: ${said.stderr}`);
  return said.stdout.trimEnd();
}
