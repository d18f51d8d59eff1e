import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { type NodeProcess, startNodeIn } from './node-process';

/** `npm start` in a child process, as the script in package.json runs it. */
export interface LocalCommand extends NodeProcess {
  /** Resolves when it prints that it is ready; rejects with its output if it exits before. */
  ready(): Promise<void>;
  /** Its current process tree, including itself. */
  processes(): number[];
}

export const startLocalCommand = (...args: string[]): LocalCommand =>
  startLocalCommandIn(resolve(__dirname, '../..'), ...args);

/** The same of another project, or of this one at another commit. */
export const startLocalCommandIn = (directory: string, ...args: string[]): LocalCommand =>
  asLocalCommand(startNodeIn(directory, ['--require', 'tsx/cjs', 'bin/local.ts', ...args]));

/** A process that prints the ready message of `npm start`. */
export function asLocalCommand(command: NodeProcess): LocalCommand {
  const { process: child, said } = command;
  return {
    ...command,
    ready: () =>
      new Promise((isReady, reject) => {
        const look = () => said.stdout.includes('Ctrl-C stops everything') && isReady();
        child.stdout.on('data', look);
        void command
          .ended()
          .then(({ stderr }) => reject(new Error(`It ended before it was ready:\n${stderr}`)));
        look();
      }),
    processes: () => [child.pid as number, ...descendants(child.pid as number)],
  };
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch {
    return false;
  }
}

function processTable(): { readonly pid: number; readonly parent: number; readonly state: string }[] {
  return execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .map(([pid, parent, state = '']) => ({ pid: Number(pid), parent: Number(parent), state }));
}

export const childrenOf = (pid: number, all = processTable()): number[] =>
  all.filter(({ parent }) => parent === pid).map((child) => child.pid);

function descendants(pid: number, all = processTable()): number[] {
  return childrenOf(pid, all).flatMap((child) => [child, ...descendants(child, all)]);
}

/** A zombie: in a container without an init, it is never reaped. */
function isZombie(pid: number): boolean {
  return processTable().some((entry) => entry.pid === pid && entry.state.startsWith('Z'));
}
