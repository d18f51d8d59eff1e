import { createHmac } from 'node:crypto';
import { rotationOverlap, secretMessage, sign, signatureHeaders } from '../../../domain/signature';
import type { AttemptResult } from '../../../lambda/deliver-webhook/retry-schedule';
import { readAsked } from './promises';

const second = 1_000;
/** The longest pause, and the shortest one of the circuit breaker, which is also the time of a trial. */
const [longest, shortest] = [900 * second, 30 * second];
/** Attempts in a row without a response after which a webhook is paused. */
const breaker = 5;
/** A request that was under way when something changed. */
export const underWay = 30 * second;

export interface Request {
  readonly deliveryId: string;
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly beganAt: number;
  /** When the receiver is done with it, if it answers within the promised time. */
  readonly busyUntil: number;
}

export const secretOf = (webhookId: string, version: number) =>
  createHmac('sha256', 'the key').update(secretMessage(webhookId, version)).digest();

/** What is known of a webhook from what operators did and its receiver answered. Times are in milliseconds since 1970. */
export class WebhookBook {
  enabled = true;
  disabledAt = 0;
  enabledAt = 0;
  movedAt = 0;
  /** The one that returned 410. */
  goneUrl = '';
  /** When one of its deliveries, or the batch of one, last met a fault. */
  faultAt = 0;
  readonly rotations: number[] = [];
  private readonly results: { readonly at: number; readonly silent: boolean }[] = [];
  /** From `at` on, what looks at the webhook may wait until `end`, if nothing else changes. */
  private readonly waits: { readonly at: number; readonly end: number }[] = [];
  /** A pause that may last, or wait for its trial. */
  private pause: { reason: 'asked' | 'silent'; until: number; length: number } | undefined;
  /** What it was before the last result, which may not be recorded. */
  private earlier: { at: number; pause?: WebhookBook['pause'] } = { at: 0 };
  /** A pause that lasts surely: no request begins in it, and then one. */
  private quiet: { readonly from: number; readonly to: number; trial?: Request } | undefined;

  constructor(
    readonly webhookId: string,
    readonly organizationId: string,
    public url: string,
  ) {}

  enable(now: number): void {
    // Results of this second may be recorded after it.
    this.reset(now - second);
    Object.assign(this, { enabled: true, enabledAt: now });
  }

  move(url: string, now: number): void {
    this.reset(now);
    Object.assign(this, { url, movedAt: now });
  }

  /** Its pause ends, and what waits for it may still wait. */
  private reset(since: number): void {
    this.pause = undefined;
    this.quiet = undefined;
    this.results.splice(0, this.results.findLastIndex(({ at }) => at <= since) + 1);
  }

  /** @returns whether it was enabled */
  disable(now: number): boolean {
    const { enabled } = this;
    if (enabled) Object.assign(this, { enabled: false, disabledAt: now });
    return enabled;
  }

  /** Whether it was disabled or removed at some time since then. */
  isOff(since: number): boolean {
    return !this.enabled || this.enabledAt >= since;
  }

  /** It may be paused, unpaused or tried unseen. */
  fault(now: number): void {
    this.faultAt = now;
    this.quiet = undefined;
    const [one, other] = [this.pause, this.earlier.at > now - underWay ? this.earlier.pause : undefined];
    const length = Math.max(shortest, one?.length ?? 0, other?.length ?? 0);
    const until = Math.min(one?.until ?? now, other?.until ?? now);
    this.pause = { reason: one?.reason ?? other?.reason ?? 'silent', until, length };
    this.wait(now, now + underWay + shortest + length);
  }

  /** @param mayLast whether what it waited for before may last */
  private wait(at: number, end: number, mayLast = true): void {
    this.waits.push({ at, end: Math.max(end, (mayLast && this.waits.at(-1)?.end) || 0) });
  }

  /** The end of the last pause in which a delivery may look that looks between two times, or later, while it waits. */
  pausedUntil(from: number, to: number): number {
    const first = this.waits.findLastIndex(({ at }) => at <= from);
    let paused = 0;
    for (const { at, end } of this.waits.slice(Math.max(0, first))) {
      if (at > Math.max(to, paused)) break;
      paused = Math.max(paused, end);
    }
    return paused;
  }

  /** @returns the promise that the request breaks, if any */
  request(request: Request): string | undefined {
    const { beganAt: now } = request;
    // After a pause, what looks at it may wait for this trial.
    if (this.pause && now >= this.pause.until) this.wait(now, now + shortest + this.pause.length);
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
    // It says nothing about the new one.
    if (url !== this.url) return;
    this.earlier = { at: now, pause: this.pause };
    const wasTrial = this.quiet?.trial === request;
    if (wasTrial) this.quiet = undefined;
    const slow = !result.answered && result.reason === 'slow';
    const silent = !result.answered && !slow;
    if (!slow) this.results.push({ at: now, silent });
    const { pause } = this;
    const isTrial = pause !== undefined && beganAt >= pause.until;
    const asks = result.answered && [429, 503].includes(result.status);
    const asked = asks ? Math.min(readAsked(result.retryAfter, now), longest) : 0;
    // What looks before the result is recorded finds the state before.
    const recorded = now + second;
    // After a fault, an earlier pause may last.
    const isUncertain = this.faultAt > now - 2 * underWay;
    if (asked > 0) {
      const lasts = pause && pause.until > now ? pause : { until: 0, length: 0 };
      const length = Math.max(Math.ceil(asked / second) * second, lasts.length);
      this.pause = { reason: 'asked', until: Math.max(now + length, lasts.until), length };
      this.wait(recorded, this.pause.until + length, isUncertain);
      // The result of another's trial would end it.
      if (this.enabled && this.enabledAt < beganAt && (!pause || wasTrial) && asked > 15 * second)
        this.quiet = { from: now + 5 * second, to: now + asked - 5 * second };
    } else if (result.answered) {
      if (!pause || !(isTrial || pause.reason === 'silent') || isUncertain) return;
      this.pause = undefined;
      this.quiet = undefined;
      this.wait(recorded, 0, false);
    } else if (silent) {
      if (!pause && !this.isBroken(now)) return;
      if (pause?.reason === 'asked' && !isTrial) return;
      const before = pause?.reason === 'silent' ? pause.length : 0;
      const length = Math.max(shortest, isTrial ? Math.min(2 * before, longest) : before);
      // The count may be late, so a result that seems to be late may be the one that opens the breaker.
      const until = pause && !isTrial ? pause.until : now + length;
      this.pause = { reason: 'silent', until, length };
      this.quiet = undefined;
      this.wait(now, now + 2 * length);
    }
  }

  /** An answer counts once it is recorded, perhaps after what followed it. */
  private isBroken(now: number): boolean {
    const answer = this.results.findLastIndex(({ at, silent }) => !silent && at < now - second);
    return this.results.slice(answer + 1).filter(({ silent }) => silent).length >= breaker;
  }

  /** Whether the signatures are those of its current secrets, or of those before a change under way. */
  isSigned({ headers, body, beganAt }: Request): boolean {
    const timestamp = Number(headers['webhook-timestamp']);
    const id = headers['webhook-id'] ?? '';
    if (Math.abs(timestamp * second - beganAt) > 2 * second) return false;
    const changes = this.rotations.filter((rotation) => rotation > beganAt - underWay);
    return [beganAt, beganAt - underWay, beganAt + 5 * second, ...changes].some((time) => {
      const version = 1 + this.rotations.filter((rotation) => rotation <= time).length;
      const since = this.rotations[version - 2] ?? 0;
      const versions = version > 1 && time < since + rotationOverlap ? [version, version - 1] : [version];
      const signature = sign(
        { id, timestamp, body },
        versions.map((each) => secretOf(this.webhookId, each)),
      );
      return signatureHeaders.every((name) => headers[name] === signature);
    });
  }
}
