import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  Worker,
  workerData,
} from 'node:worker_threads';

interface ThreadData {
  /** For its messages. */
  readonly port: MessagePort;
  /** Its only number counts them. */
  readonly sent: Int32Array;
}

/** In place of the count, of a thread that has ended. */
const ended = -1;

/** Milliseconds: many times what a message takes, for a thread that ended without a word. */
const limit = 120_000;

/** Works while this thread is busy, too: the CDK's synthesis never returns to the event loop. */
export interface Thread<Message> {
  post(value: unknown): void;
  /** Waits for the next message. Undefined if it has none, or has failed. */
  next(): Message | undefined;
}

/** @param file a program that sends by `openThread` */
export function startThread<Message>(file: string): Thread<Message> {
  const { port1: own, port2: port } = new MessageChannel();
  const sent = new Int32Array(new SharedArrayBuffer(4));
  const data: ThreadData = { port, sent };
  const worker = new Worker(file, { workerData: data, transferList: [port] });
  // The caller, which then does the work itself, meets the same error.
  worker.on('error', () => undefined);
  worker.on('exit', () => Atomics.store(sent, 0, ended));
  worker.unref();
  let taken = 0;
  return {
    post: (value) => worker.postMessage(value),
    next() {
      Atomics.wait(sent, 0, taken, limit);
      taken += 1;
      return receiveMessageOnPort(own)?.message;
    },
  };
}

/** In the thread: returns what sends a message. */
export function openThread(): (message: unknown) => void {
  const { port, sent } = workerData as ThreadData;
  process.once('exit', () => {
    Atomics.store(sent, 0, ended);
    Atomics.notify(sent, 0);
  });
  return (message) => {
    port.postMessage(message);
    Atomics.add(sent, 0, 1);
    Atomics.notify(sent, 0);
  };
}
