import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { Cleanup } from '../../lib/local/cleanup';

/** A receiver in a process of its own, so that it takes no turn from what is measured. */
export interface ReceiverProcess {
  /** Where it answers 204; with `?after=50` after so many milliseconds. */
  readonly url: string;
  /** Requests that it has answered so far. */
  count(): Promise<number>;
}

export async function startReceiverProcess(cleanup: Cleanup): Promise<ReceiverProcess> {
  const child = fork(join(__dirname, 'functions/receiver.cjs'), {
    // Ctrl-C in a terminal reaches a whole process group; whoever waits for an answer must get it.
    detached: true,
  });
  cleanup.add(async () => {
    child.kill();
    await new Promise((resolve) => child.once('exit', resolve));
  });
  const ask = <Answer>(question: string) =>
    new Promise<Answer>((resolve) => {
      child.once('message', (answer) => resolve(answer as Answer));
      child.send(question);
    });
  const port = await ask<number>('port');
  return { url: `http://127.0.0.1:${port}/in`, count: () => ask<number>('count') };
}
