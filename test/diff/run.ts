import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Runs a command to its end. An abort ends it and all that it has started: npm and the CDK start processes of their own.
 *
 * @returns what it wrote to stdout
 * @throws Error with what it wrote to both, when it does not exit with 0
 */
export async function run(
  folder: string,
  [command, ...args]: readonly [string, ...string[]],
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted();
  // Detached: it leads a process group, which one signal reaches.
  const child = spawn(command, args, { cwd: folder, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const stop = () => child.pid !== undefined && process.kill(-child.pid, 'SIGTERM');
  signal.addEventListener('abort', stop);
  const written = { stdout: '', both: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written.stdout += text;
    written.both += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    written.both += text;
  });
  const [exitCode] = await once(child, 'close').finally(() => signal.removeEventListener('abort', stop));
  signal.throwIfAborted();
  if (exitCode !== 0) {
    throw new Error(`${[command, ...args].join(' ')} failed with exit code ${exitCode}:\n${written.both}`);
  }
  return written.stdout;
}
