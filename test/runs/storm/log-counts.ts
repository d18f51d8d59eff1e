import { webhookLogCodes } from '../../../lambda/webhooks/log-codes';

interface Line {
  readonly logCode?: string;
  readonly eventId?: string;
  readonly webhookId?: string;
  readonly deliveries?: number;
  readonly message?: string;
  readonly cause?: string;
  readonly reason?: string;
}

/** What the functions' log lines tell: the product's own record of what it did. */
export class LogCounts {
  /** Of deliveries that a disabled webhook stopped: the ids of webhook and event. */
  readonly stopped = new Set<string>();
  /** By event: to how many webhooks each completed fan-out sent it. */
  readonly fanOuts = new Map<string, number[]>();
  /** Lines by code. */
  readonly lines = new Map<string, number>();
  /** Failures of invocations and queues by their text. */
  readonly failures = new Map<string, number>();

  readonly read = (text: string): void => {
    const code = /"logCode":"(\w+)"/.exec(text)?.[1];
    if (code === undefined) return;
    count(this.lines, code);
    if (code === webhookLogCodes.deliveryWaits || code === webhookLogCodes.eventWaits) this.failure(text);
    if (code !== webhookLogCodes.deliveryStopped && code !== webhookLogCodes.eventFannedOut) return;
    const { webhookId, eventId, deliveries } = JSON.parse(text) as Line;
    if (code === webhookLogCodes.deliveryStopped) this.stopped.add(`${webhookId} ${eventId}`);
    if (code === webhookLogCodes.eventFannedOut && eventId && deliveries !== undefined) {
      this.fanOuts.set(eventId, [...(this.fanOuts.get(eventId) ?? []), deliveries]);
    }
  };

  /** A failure of ours: of an invocation, of a queue, or one that the product waits for. */
  readonly failure = (text: string): void => {
    const line = text.startsWith('{') ? (JSON.parse(text) as Line) : undefined;
    const named = line ? `${line.message}: ${line.cause}, ${line.reason}` : text;
    count(this.failures, named.replace(/[\da-f]{8}-[\da-f-]{27}/g, '…'));
  };
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
