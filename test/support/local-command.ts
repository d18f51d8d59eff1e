import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { commandLine } from '../../local/processes';
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
    processes: () => treeOf(child.pid as number),
  };
}

/** A zombie, which in a container without an init is never reaped, has no command line. */
export const isRunning = (pid: number): boolean => commandLine(pid) !== '';

export function childrenOf(pid: number): number[] {
  const table = execFileSync('ps', ['-A', '-o', 'ppid=,pid='], { encoding: 'utf8' });
  const pairs = table.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  return pairs.flatMap(([parent, child]) => (parent === pid && child ? [child] : []));
}

const treeOf = (pid: number): number[] => [pid, ...childrenOf(pid).flatMap(treeOf)];
