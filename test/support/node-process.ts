import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

/** A Node.js process, by default in the project's folder. */
export interface NodeProcess {
  readonly process: ChildProcessWithoutNullStreams;
  /** Its output so far. */
  readonly said: { readonly stdout: string; readonly stderr: string };
  /** Resolves when the process has exited. */
  ended(): Promise<{ readonly exitCode: number | null; readonly stdout: string; readonly stderr: string }>;
}

export const startNode = (...args: string[]): NodeProcess => startNodeIn(resolve(__dirname, '../..'), args);

/** The same in another folder, with these variables beside this process's own. */
export function startNodeIn(
  directory: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): NodeProcess {
  const child = spawn(process.execPath, args, { cwd: directory, env: { ...process.env, ...variables } });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  }
  const end = once(child, 'close').then(([exitCode]) => ({ exitCode: exitCode as number | null, ...said }));
  return { process: child, said, ended: () => end };
}

/** The command line, as `npm run wallet` runs it. */
export const startWallet = (...args: string[]) => startNode('--require', 'tsx/cjs', 'bin/wallet.ts', ...args);
