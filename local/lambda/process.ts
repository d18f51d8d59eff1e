import { fork } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Code, type FailedInvocation, failed, type Instance } from './instance';

/** What `bootstrap.cjs` sends. */
type FromChild =
  | { readonly type: 'ready' }
  | { readonly type: 'failed' | 'error'; readonly error: Omit<FailedInvocation, 'ok'> }
  | { readonly type: 'result'; readonly payload: string };

/** Lambda allows 10 s for loading the code; a busy machine gets more before a hang is called a hang. */
const initLimitMs = 30_000;

/** Starts a process with a function's code: it can be killed at any moment, and a crash stays contained. */
export async function startProcess(code: Code): Promise<Instance | FailedInvocation> {
  const { bundleDirectory, environment, memoryMiB, onLog } = code;
  const child = fork(join(__dirname, 'bootstrap.cjs'), [], {
    cwd: bundleDirectory,
    env: { ...environment },
    execArgv: [`--max-old-space-size=${memoryMiB}`],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', onLog);
  }
  let reason: string | undefined;
  const ended = new Promise<void>((resolve) => {
    const end = (how: string) => {
      reason ??= how;
      resolve();
    };
    child.once('error', (error) => end(error.message));
    child.once('exit', (status, signal) => end(signal ? `signal: ${signal}` : `exit status ${status}`));
  });
  const exited = ended.then(() => failed('Runtime.ExitError', `Error: Runtime exited with error: ${reason}`));
  const kill = () => {
    // Counted as gone from now on: the exit itself is seen only later.
    reason ??= 'signal: SIGKILL';
    child.kill('SIGKILL');
  };
  const nextMessage = () => new Promise<FromChild>((resolve) => child.once('message', resolve));

  const timer = setTimeout(kill, initLimitMs);
  const loaded = await Promise.race([nextMessage(), exited]);
  clearTimeout(timer);
  if ('ok' in loaded) return loaded;
  if (loaded.type === 'failed') return { ok: false, ...loaded.error };
  return {
    pid: child.pid,
    get alive() {
      return reason === undefined;
    },
    ended,
    async invoke(invocation) {
      const answer = nextMessage();
      if (reason === undefined) child.send(invocation, (error) => error && kill());
      const message = await Promise.race([answer, exited]);
      if ('ok' in message) return message;
      if (message.type === 'result') return { ok: true, payload: message.payload };
      return message.type === 'error'
        ? { ok: false, ...message.error }
        : failed('Runtime.Protocol', `unexpected message ${message.type}`);
    },
    kill,
  };
}
