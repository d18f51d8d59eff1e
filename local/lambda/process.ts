import { fork } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { failed, type JsonResult, type Runtime } from './instance';

/** Milliseconds. Lambda allows 10 s for loading the code; a busy machine gets more. */
const initLimit = 30_000;

/** Starts a process with a function's code: it can be killed at any time, and a crash stays contained. */
export const startProcess: Runtime = async ({ bundleDirectory, environment, memoryMiB, onLog }) => {
  const child = fork(join(__dirname, 'bootstrap.cjs'), [], {
    cwd: bundleDirectory,
    env: { ...environment },
    execArgv: [`--max-old-space-size=${memoryMiB}`],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', onLog);
  }
  const ended = new Promise<JsonResult>((resolve) => {
    const end = (reason: string) =>
      resolve(failed('Runtime.ExitError', `Error: Runtime exited with error: ${reason}`));
    child.once('error', ({ message }) => end(message));
    child.once('exit', (status, signal) => end(signal ? `signal: ${signal}` : `exit status ${status}`));
  });
  const kill = () => void child.kill('SIGKILL');
  const nextResult = () =>
    Promise.race([new Promise<JsonResult>((resolve) => child.once('message', resolve)), ended]);

  const timer = setTimeout(kill, initLimit);
  const loaded = await nextResult();
  clearTimeout(timer);
  if (!loaded.ok) return loaded;
  return {
    pid: child.pid,
    isAlive: () => child.connected && !child.killed,
    ...{ ended, kill },
    invoke(invocation) {
      const result = nextResult();
      child.send(invocation, (error) => error && kill());
      return result;
    },
  };
};
