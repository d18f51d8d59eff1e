import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { Cleanup } from '../../../local/cleanup';

/** A receiver in its own process, so that it takes no turn from what is measured. */
export interface ReceiverProcess {
  /** Where it answers 204; with `?after=50` after so many milliseconds. */
  readonly url: string;
  /** Requests that it has answered so far. */
  count(): Promise<number>;
  /** Its TLS handshakes so far. */
  handshakes(): Promise<number>;
}

/** PEM, of the name in the receiver's URL. */
export interface ReceiverCertificate {
  readonly name: string;
  readonly key: string;
  readonly cert: string;
}

/** @param certificate with which it speaks HTTPS. @default - it speaks HTTP */
export async function startReceiverProcess(
  cleanup: Cleanup,
  certificate?: ReceiverCertificate,
): Promise<ReceiverProcess> {
  // Detached: Ctrl-C in a terminal reaches a whole process group, and a question must get its answer.
  const child = fork(join(__dirname, 'functions/receiver.cjs'), {
    detached: true,
    env: { ...process.env, RECEIVER_CERTIFICATE: certificate && JSON.stringify(certificate) },
  });
  cleanup.add(async () => {
    child.kill();
    await new Promise((resolve) => child.once('exit', resolve));
  });
  const ask = (question: string) =>
    new Promise<number>((resolve) => {
      child.once('message', (answer) => resolve(answer as number));
      child.send(question);
    });
  const origin = certificate ? `https://${certificate.name}` : 'http://127.0.0.1';
  return {
    url: `${origin}:${await ask('port')}/in`,
    count: () => ask('requests'),
    handshakes: () => ask('handshakes'),
  };
}
