import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine } from '../../local/shared/processes';
import { eventually } from './eventually';

export type LocalCommand = ReturnType<typeof startLocalCommand>;

/** `npm start` of the project in a folder, in a child process, as the script in its package.json runs it. */
export function startLocalCommand(directory: string, ...args: string[]) {
  const { scripts } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const [, preload = ''] = /--require (\S+) bin\/local\.ts/.exec(scripts.start) ?? [];
  const command = startNodeIn(directory, ['--require', preload, 'bin/local.ts', ...args]);
  const { process: child, said } = command;
  const hasExited = () => child.exitCode !== null || child.signalCode !== null;
  return {
    ...command,
    /** Waits until it prints that it is ready. @throws Error with its output if it exits before */
    async ready() {
      const isReady = () => said.stdout.includes('Ctrl-C stops everything');
      await eventually(() => isReady() || hasExited());
      if (!isReady()) throw new Error(`It ended before it was ready:\n${(await command.ended()).stderr}`);
    },
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

export function startNodeIn(directory: string, args: readonly string[]) {
  const child = spawn(process.execPath, args, { cwd: directory });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  const end = once(child, 'close').then(([exitCode]) => ({ exitCode: exitCode as number | null, ...said }));
  return { process: child, said, ended: () => end };
}
