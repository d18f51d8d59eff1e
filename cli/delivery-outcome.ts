import type { Attempt } from '../domain/delivery';
import { listAttempts } from './deliveries';
import { CommandFailed } from './failure';
import { OperationRefused } from './operations-function';
import { poll } from './poll';
import type { Target } from './target';

/** A delivery that was just sent. */
export interface Sent {
  readonly eventId: string;
  readonly webhookId: string;
}

interface WaitOptions {
  readonly seconds: number;
  readonly signal?: AbortSignal;
  /** @default - the first attempt will do */
  readonly isOver?: (attempt: Attempt) => boolean;
}

/** Waits for an attempt to deliver; the last one when the time is over. @throws CommandFailed when there is none */
export async function waitForAttempt(
  target: Target,
  { eventId, webhookId }: Sent,
  { isOver = () => true, ...options }: WaitOptions,
): Promise<Attempt> {
  let last: Attempt | undefined;
  const ask = async () => {
    try {
      [last] = await listAttempts(target, { eventId, webhookId, limit: 1 });
    } catch (error) {
      // It is not fanned out yet.
      if (!(error instanceof OperationRefused && error.code === 'event_not_found')) throw error;
    }
    return last && isOver(last) ? last : undefined;
  };
  const attempt = (await poll(ask, { every: 500, ...options })) ?? last;
  if (attempt) return attempt;
  throw new CommandFailed(
    `No delivery was attempted within ${options.seconds} s.`,
    `The consumers may be off, or messages waiting: ${target.paste('origin-status')}\nOtherwise look into the logs of the functions that fan out and deliver, in ${target.logs}.`,
  );
}

/** @throws CommandFailed for any outcome but `delivered`, with what to do about it */
export function requireDelivered({ outcome, reason, status }: Attempt): void {
  if (outcome === 'delivered') return;
  const remedy = remedies.find(([pattern]) => pattern.test(`${status ?? reason}`))?.[1] ?? otherRemedy;
  throw new CommandFailed(
    status === null
      ? `The receiver did not answer: ${outcome}, ${reason}.`
      : `The receiver answered ${status}: ${outcome}, ${reason}.`,
    remedy,
  );
}

/** By the status, or by the reason why there is none. */
const remedies: readonly (readonly [RegExp, string])[] = [
  [
    /^401$/,
    'It was reached, and refused the signature: give it the secret of "wallet webhook secret", and check its clock.',
  ],
  [/^410$/, 'It answered 410, which disabled the webhook. Have it answer 2xx, then: wallet webhook enable.'],
  [/^3\d\d$/, 'Redirects are not followed. Give the final URL: wallet webhook update --url.'],
  [/^5\d\d$/, 'It was reached, and failed: look into its log.'],
  [
    /^\d+$/,
    'It was reached, and has to answer with 2xx: check the path of the URL, and what stands in front of it.',
  ],
  [
    /refused/,
    'Nothing listens at the URL. Start the receiver, and check the port. On this machine: wallet local receive.',
  ],
  [
    /timeout/,
    'It has to accept a connection within 5 s and answer within 15 s: allow the address in its firewall (wallet origins), and answer before the work is done.',
  ],
  [
    /certificate|tls/,
    'Give the URL a certificate of a public authority, for its name, that has not expired.',
  ],
];
const otherRemedy = 'Check that the URL leads to the receiver, from the internet.';
