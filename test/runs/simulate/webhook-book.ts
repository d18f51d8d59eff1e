import type { Pause } from '../../../lambda/deliver-webhook/health';
import { type AttemptResult, isSilent, isSlow } from '../../../lambda/deliver-webhook/retry-schedule';
import { readAsked } from './promises';

const second = 1_000;
/** The longest pause, and for how long others wait for a trial. */
const [longest, trialTime] = [900 * second, 30 * second];
/** Attempts in a row without a response after which a webhook is paused. */
const breaker = 5;
/** A request that was under way when something changed. */
export const underWay = 30 * second;

/** One request at its receiver. */
export interface Request {
  readonly deliveryId: string;
  readonly url: string;
  readonly body: string;
  /** The header, in milliseconds since 1970. */
  readonly timestamp: number;
  readonly beganAt: number;
  /** When the receiver is done with it, if it answers within the promised time. */
  readonly busyUntil: number;
}

/** What is known of a webhook: what operators did, its receiver answered, and how it was paused. Times are in milliseconds since 1970. */
export class WebhookBook {
  enabled = true;
  /** When it last changed. */
  disabledAt = 0;
  enabledAt = 0;
  movedAt = 0;
  /** When one of its deliveries, or the batch of one, last met a fault. */
  faultAt = 0;
  /** Results without a response since the last response. */
  private silences = 0;
  /** As it was set last: it may last, or wait for its trial. */
  private pause: Pause | undefined;
  /** From `at` on, what looks at the webhook may wait until `end`, if nothing else changes. */
  private readonly waits: { readonly at: number; readonly end: number }[] = [];
  /** A pause that its receiver asked for and that lasts surely: no request begins in it, and then one. */
  private quiet?: { readonly from: number; readonly to: number; trial?: Request } | undefined;

  constructor(
    readonly webhookId: string,
    readonly organizationId: string,
    public url: string,
  ) {}

  enable(now: number): void {
    Object.assign(this, { enabled: true, enabledAt: now, silences: 0 });
    this.paused(undefined, now);
  }

  move(url: string, now: number): void {
    Object.assign(this, { url, movedAt: now, silences: 0 });
    this.paused(undefined, now);
  }

  disable(now: number): void {
    if (this.enabled) Object.assign(this, { enabled: false, disabledAt: now });
  }

  /** Its pause was set or ended. @returns the promise that this breaks, if any */
  paused(pause: Pause | undefined, now: number): string | undefined {
    if (pause?.reason !== 'retry_after') this.quiet = undefined;
    this.pause = pause;
    this.waits.push({ at: now, end: pause ? pause.until + pause.length + 2 * second : 0 });
    return pause && pause.length > longest ? 'a pause lasts at most 15 minutes' : undefined;
  }

  /** Its results may not be recorded, and a trial may end without one. */
  fault(now: number): void {
    Object.assign(this, { faultAt: now, silences: 0, quiet: undefined });
    this.tried(now, underWay);
  }

  /** The claim of a trial: what looks may wait for that, then as long as for the pause. */
  private tried(now: number, longer = 0): void {
    if (this.pause) {
      const end = Math.max(now, this.pause.until) + trialTime + this.pause.length + longer;
      this.waits.push({ at: now, end });
    }
  }

  /** The end of the last pause in which a delivery may look that looks between two times, or later, while it waits. */
  pausedUntil(from: number, to: number): number {
    let paused = 0;
    const first = this.waits.findLastIndex(({ at }) => at <= from);
    for (const wait of this.waits.slice(Math.max(0, first))) {
      if (wait.at > Math.max(to, paused)) break;
      paused = Math.max(paused, wait.end);
    }
    return paused;
  }

  /** @returns the promise that the request breaks, if any */
  request(request: Request): string | undefined {
    const { beganAt: now } = request;
    if (this.pause && now >= this.pause.until) this.tried(now);
    const { quiet } = this;
    if (!quiet || now < quiet.from || this.faultAt > now - underWay) return undefined;
    if (now < quiet.to) return 'a request to a paused webhook: earlier than Retry-After of another delivery';
    if (quiet.trial && now < quiet.trial.beganAt + 25 * second)
      return 'more than one delivery is tried after a pause';
    quiet.trial = request;
    return undefined;
  }

  answered(request: Request, result: AttemptResult, now: number): void {
    const { beganAt, url } = request;
    if (url !== this.url || isSlow(result)) return;
    this.silences = isSilent(result) ? this.silences + 1 : 0;
    const wasTrial = this.quiet?.trial === request;
    if (wasTrial) this.quiet = undefined;
    const isAsked = result.answered && [429, 503].includes(result.status);
    const asked = isAsked ? Math.min(readAsked(result.retryAfter, now), longest) : 0;
    const isCurrent = this.enabled && Math.max(this.enabledAt, this.movedAt) < beganAt;
    // The result of another's trial would end it.
    if (isCurrent && (!this.pause || wasTrial) && asked > 15 * second)
      this.quiet = { from: now + 5 * second, to: now + asked - 5 * second };
  }

  /** Whether it should be paused, if all its results are recorded. */
  isBroken = (): boolean => this.silences >= breaker && !this.pause;
}
