import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { startWallet } from './node-process';

/** `wallet receive` as a process, as a person runs it. */
export interface ReceiveCommand {
  readonly url: string;
  /** The next line of its stdout. */
  next(): Promise<string>;
  /** Sends a signal on the first call, and waits for the exit. @default SIGINT, as Ctrl-C does */
  end(signal?: NodeJS.Signals): Promise<{ readonly exitCode: number | null; readonly stderr: string }>;
}

/** Starts the command on a free port. @throws Error with its stderr if it exits */
export async function startReceiveCommand(...args: string[]): Promise<ReceiveCommand> {
  const { process: child, said, ended } = startWallet('receive', '--port', '0', ...args);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const url = () => /http:\/\/127\.0\.0\.1:\d+\//.exec(said.stderr)?.[0];
  while (!url()) {
    await Promise.race([once(child.stderr, 'data'), ended()]);
    if (child.exitCode !== null) throw new Error(said.stderr);
  }
  return {
    url: url() ?? '',
    next: async () => String((await lines.next()).value),
    async end(signal = 'SIGINT') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return ended();
    },
  };
}
