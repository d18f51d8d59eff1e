import type { DeadLetter, DeadLetterQueue } from './dead-letter-queue';
import type { Decide, Decision } from './decision';

export interface RunOptions {
  readonly queue: DeadLetterQueue;
  readonly decide: Decide;
  /** Looks at the messages and leaves them. */
  readonly dryRun: boolean;
  /** Messages to redeliver, at most. */
  readonly limit: number;
  /** Ends the run after the messages that it has in hand. */
  readonly signal: AbortSignal;
  /** Gets the number of messages that were looked at, now and then. */
  readonly onProgress: (looked: number) => void;
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: () => number;
}

/** Messages that share a fate. */
export interface Outcome {
  readonly webhookId: string | null;
  /** Why they were on the dead-letter queue; null when SQS itself moved them there. */
  readonly reason: string | null;
  /** Why they stay there; null when they are redelivered. */
  readonly keptBecause: string | null;
  readonly messages: number;
}

/**
 * Goes through a dead-letter queue once. Each message is sent before it is deleted, so a run may be interrupted at any
 * point and repeated: in the worst case a message goes out twice.
 */
export async function redeliverAll(options: RunOptions): Promise<readonly Outcome[]> {
  const { queue, decide, dryRun, limit, signal, onProgress, now = Date.now } = options;
  const begun = now();
  const outcomes = new Map<string, Outcome>();
  const seen = new Set<string>();
  const stay: DeadLetter[] = [];
  let redelivered = 0;

  async function handle(letter: DeadLetter): Promise<void> {
    // What comes while this runs may be what it has just sent: for the next run, or this one would never end.
    const decision = letter.sentAt > begun ? cameMeanwhile : await decide(letter);
    const redelivers = decision.kind === 'redeliver';
    if (redelivers && !dryRun) await queue.redeliver(letter, decision.redelivery);
    else stay.push(letter);
    if (redelivers) redelivered += 1;
    if (decision.kind !== 'ignore') {
      count({
        webhookId: decision.webhookId ?? null,
        reason: letter.reason ?? null,
        keptBecause: redelivers ? null : decision.because,
      });
    }
  }

  function count(fate: Omit<Outcome, 'messages'>): void {
    const key = JSON.stringify(fate);
    outcomes.set(key, { ...fate, messages: (outcomes.get(key)?.messages ?? 0) + 1 });
  }

  try {
    while (!signal.aborted && redelivered < limit) {
      const received = await queue.receive(limit - redelivered);
      // What was seen before has come round: the queue has nothing new.
      const letters = received.filter(({ messageId }) => !seen.has(messageId));
      if (letters.length === 0) break;
      for (const { messageId } of letters) seen.add(messageId);
      await Promise.all(letters.map(handle));
      onProgress(seen.size);
    }
  } finally {
    await putBack(queue, stay);
  }
  return [...outcomes.values()];
}

const cameMeanwhile: Decision = { kind: 'keep', because: 'it came while this ran' };

/** A message whose time out of sight is over cannot be put back, and need not be. */
async function putBack(queue: DeadLetterQueue, letters: readonly DeadLetter[]): Promise<void> {
  for (let start = 0; start < letters.length; start += 10) {
    await Promise.allSettled(letters.slice(start, start + 10).map((letter) => queue.putBack(letter)));
  }
}
