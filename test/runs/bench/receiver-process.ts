import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { Cleanup } from '../../../lib/local/cleanup';

/** A receiver in its own process, so that it takes no turn from what is measured. */
export interface ReceiverProcess {
  /** Where it answers 204; with `?after=50` after so many milliseconds. */
  readonly url: string;
  /** Requests that it has answered so far. */
  count(): Promise<number>;
}

export async function startReceiverProcess(cleanup: Cleanup): Promise<ReceiverProcess> {
  // Detached: Ctrl-C in a terminal reaches a whole process group, and a question must get its answer.
  const child = fork(join(__dirname, 'functions/receiver.cjs'), { detached: true });
  cleanup.add(async () => {
    child.kill();
    await new Promise((resolve) => child.once('exit', resolve));
  });
  const ask = (question: string) =>
    new Promise<number>((resolve) => {
      child.once('message', (answer) => resolve(answer as number));
      child.send(question);
    });
  return { url: `http://127.0.0.1:${await ask('port')}/in`, count: () => ask('count') };
}
