import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { projectRoot } from '../../local/assembly/synthesis';

/** A Node.js process in a folder, with these variables beside this process's own. */
export function startNodeIn(
  directory: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
) {
  const child = spawn(process.execPath, args, { cwd: directory, env: { ...process.env, ...variables } });
  /** Its output so far. */
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  }
  const end = once(child, 'close').then(([exitCode]) => ({ exitCode: exitCode as number | null, ...said }));
  /** Resolves when the process has exited. */
  const ended = () => end;
  return { process: child, said, ended };
}

/** The command line, as `npm run wallet` runs it. */
export const startWallet = (...args: string[]) =>
  startNodeIn(projectRoot, ['--require', 'tsx/cjs', 'bin/wallet.ts', ...args]);
