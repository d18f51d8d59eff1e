import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** `wallet receive` as a process, as a person runs it. */
export interface ReceiveCommand {
  readonly url: string;
  /** The next line of its stdout. */
  next(): Promise<string>;
  /** Sends it a signal, the first time, and waits for its end. @default SIGINT, as Ctrl-C does */
  end(signal?: NodeJS.Signals): Promise<{ readonly exitCode: number | null; readonly stderr: string }>;
}

/** Starts the command on a free port. @throws Error with its stderr when it ends instead */
export async function startReceiveCommand(...args: string[]): Promise<ReceiveCommand> {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', 'bin/wallet.ts', 'receive', '--port', '0', ...args],
    {
      cwd: join(__dirname, '../..'),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const exited = once(child, 'exit');
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const urlIn = (text: string) => /http:\/\/127\.0\.0\.1:\d+\//.exec(text)?.[0];
  while (!urlIn(stderr)) {
    await Promise.race([once(child.stderr, 'data'), exited]);
    if (child.exitCode !== null) throw new Error(stderr);
  }
  return {
    url: urlIn(stderr) ?? '',
    next: async () => String((await lines.next()).value),
    async end(signal = 'SIGINT') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await exited;
      return { exitCode: child.exitCode, stderr };
    },
  };
}
