import { isDeepStrictEqual } from 'node:util';
import { type Delivery, deliveryId as idOf, retrySchedule } from '../../../domain/delivery';
import { type DisabledWebhook, disabledEvent } from '../../../domain/event';
import type { AttemptResult } from '../../../lambda/deliver-webhook/retry-schedule';
import { backoffSeconds } from '../../../lambda/shared/queue';
import type { Clock } from './clock';
import { last, readAsked, type Window, windowAfter } from './promises';
import { type Request, underWay, type WebhookBook } from './webhook-book';

/** Milliseconds by which our queues and functions may be late: without faults, and after one. */
const lag = { usual: 10_000, fault: 1_000 * backoffSeconds(1_000, 1) + 420_000 };
/** Milliseconds for which a repeat waits, so that the first attempt is over. */
const repeatWait = 60_000;
/** Times that a message may be killed along with one that kills its function. */
const mostAlong = 6;
const hours = 3_600_000;

type Ids = Pick<Delivery, 'deliveryId' | 'eventId' | 'webhookId'>;
export type Message = Pick<Delivery, 'deliveryId' | 'series'>;

class Story {
  requests = 0;
  slow = 0;
  repeats = 0;
  busyUntil = 0;
  deliveredAt = 0;
  readonly chains = new Map<string, Chain>();

  constructor(
    readonly ids: Ids,
    readonly webhook: WebhookBook,
    readonly text: string | undefined,
    /** If the event says that it is disabled: it may be late for any fault, and reaches nobody once that is over. */
    readonly announced: WebhookBook | undefined,
  ) {}

  chain(series: string): Chain {
    const chain = this.chains.get(series) ?? new Chain(this);
    this.chains.set(series, chain);
    return chain;
  }
}

class Chain {
  /** Undefined if nothing is known that caused it. */
  causedAt: number | undefined;
  /** Its messages. */
  live = 0;
  window: Window | undefined;
  /** The last request. */
  at: { readonly beganAt: number; readonly lo: number; readonly other: Window | undefined } | undefined;
  firstAt = 0;
  /** Milliseconds for which our own queues kept it. */
  kept = 0;
  /** Requests since a fault. */
  clean = 0;

  constructor(readonly story: Story) {}

  /** What another copy's answer has made due. */
  other(now: number): Window | undefined {
    return [this.window, this.at?.other].find((window) => window && window.early > now);
  }

  /** Whether a redelivery whose first attempt was later continues instead; for the first series without one, any redelivery. */
  isReplaced(before = Number.POSITIVE_INFINITY): boolean {
    const { story, firstAt } = this;
    if (firstAt === 0 && story.chains.get('') !== this) return false;
    return [...story.chains.values()].some((other) => other.firstAt > firstAt && other.firstAt < before);
  }
}

/** What an answer makes due, beside what that of another copy does: the one that is recorded first counts. */
function either(window: Window | undefined, other: Window | undefined): Window | undefined {
  if (!window || !other) return window;
  return {
    early: Math.min(window.early, other.early),
    latest: Math.max(window.latest, other.latest),
    lo: Math.min(window.lo, other.lo),
    hi: Math.max(window.hi, other.hi),
  };
}

/**
 * What docs/receivers.md and docs/events.md promise, by books of its own: what producers and operators did, what receivers saw
 * and answered, and which faults happened. It reads no number from a message. Each request is due between two times; each
 * message that a fault meets may cost one request more.
 */
export class Invariants {
  readonly violations: string[] = [];
  /** All that happened, in lines. */
  readonly history: string[] = [];
  readonly counts = { deliveries: 0, requests: 0 };
  readonly webhooks = new Map<string, WebhookBook>();
  private readonly stories = new Map<string, Story>();
  /** How many met a delivery, event or webhook, and when one last may have delayed it. */
  private readonly faults = new Map<string, number>();
  private readonly delayed = new Map<string, number>();
  private readonly along = new Map<string, number>();
  private faultAt = 0;

  constructor(private readonly clock: Clock) {}

  violated(subject: string, promise: string): void {
    this.violations.push(`${new Date(this.clock.now).toISOString()} ${subject} ${promise}`);
  }

  tell(subject: string, line: string): void {
    this.history.push(`${new Date(this.clock.now).toISOString().slice(5, 23)} ${subject} ${line}`);
  }

  /** "An id that is sent again reaches only webhooks that had no attempt of it in the last 31 days." */
  sent(eventId: string, organizationId: string, text: string, announced?: WebhookBook): void {
    for (const { webhookId, organizationId: of } of this.webhooks.values()) {
      if (of !== organizationId) continue;
      const ids = { deliveryId: idOf(eventId, webhookId), eventId, webhookId };
      this.forget(ids.deliveryId);
      const story = this.story(ids, text, announced);
      const { causedAt, window } = story.chain('');
      const isRepeat = causedAt !== undefined;
      if (isRepeat) story.repeats++;
      if (story.requests === 0 && (!window || story.webhook.isOff(window.early)))
        this.caused(ids, text, '', isRepeat ? repeatWait : 0);
    }
  }

  private forget(deliveryId: string): void {
    const since = this.clock.now - 31 * 24 * hours;
    const chains = [...(this.stories.get(deliveryId)?.chains.values() ?? [])];
    if (chains.every(({ at, causedAt = 0 }) => (at?.beganAt ?? causedAt) < since))
      this.stories.delete(deliveryId);
  }

  /** Something causes a delivery, which may wait for a time. */
  caused(ids: Ids, text: string, series: string, wait = 0): void {
    const { now } = this.clock;
    const chain = this.story(ids, text).chain(series);
    chain.causedAt ??= now;
    // An earlier message that was not dropped has a later time in the schedule.
    const hi = chain.window ? Math.min(last, chain.window.hi + now - chain.window.early) : 0;
    // One that is enabled meanwhile may get it.
    const latest = chain.story.webhook.enabled ? now + wait : Number.POSITIVE_INFINITY;
    this.await(chain, { early: now, latest, lo: 0, hi });
  }

  /** "Your organization's other webhooks then receive an event of that kind, with data {webhookId, reason}." */
  disabled(disabling: DisabledWebhook): void {
    const { webhookId, organizationId, reason } = disabling;
    const webhook = this.webhooks.get(webhookId) as WebhookBook;
    const isNew = webhook.disable(this.clock.now);
    if (isNew && reason === 'gone' && webhook.goneUrl !== webhook.url)
      this.violated(webhookId, 'disabled without a 410 of its URL');
    const { id, text } = disabledEvent(disabling);
    const { kind, data } = JSON.parse(text);
    if (!isDeepStrictEqual({ kind, data }, { kind: 'webhook.disabled', data: { webhookId, reason } }))
      this.violated(webhookId, `is disabled, and this is announced: ${text}`);
    this.sent(id, organizationId, text, webhook);
  }

  /**
   * A fault met a delivery, an event, or a webhook. Before a delivery's first request it is one of the fan-out, which then repeats
   * the whole event.
   */
  fault(subject: string): void {
    const story = this.stories.get(subject);
    const own = story?.requests === 0 ? story.ids.eventId : subject;
    this.faults.set(own, (this.faults.get(own) ?? 0) + 1);
    for (const each of new Set([own, subject])) this.excuse(each);
  }

  /** It may be late, for a fault that another one met. */
  excuse(subject: string): void {
    const { now } = this.clock;
    this.faultAt = now;
    this.delayed.set(subject, now);
    (this.stories.get(subject)?.webhook ?? this.webhooks.get(subject))?.fault(now);
  }

  /** The function of a message, one of a delivery's copies, was killed by another of its batch, which does so each time. */
  killedAlong(messageId: string, subject: string): void {
    const times = (this.along.get(messageId) ?? 0) + 1;
    this.along.set(messageId, times);
    if (times > mostAlong)
      this.violated(subject, 'is killed along with a message that kills its function, each time');
  }

  /** A message was added, or has gone for good. */
  count(body: string, change: 1 | -1): void {
    const { series = '', ...ids } = JSON.parse(body);
    this.story(ids).chain(series).live += change;
  }

  /** @param messages of the function: the request is that of the one that is due first */
  request(request: Request, messages: readonly Message[]): Chain {
    const { deliveryId, beganAt: now, busyUntil, body } = request;
    const story = this.stories.get(deliveryId);
    const due = ({ window }: Chain) => window?.early ?? Number.POSITIVE_INFINITY;
    const [chain] = messages
      .flatMap((each) => (each.deliveryId === deliveryId ? (story?.chains.get(each.series ?? '') ?? []) : []))
      .sort((one, other) => due(one) - due(other));
    if (!story || !chain) throw new Error(`A request without a message: ${deliveryId}`);
    const { webhook } = story;
    const broken = (promise: string) => this.violated(deliveryId, promise);
    if (chain.causedAt === undefined) broken('nothing caused it');
    if (body !== story.text) broken('receivers get exactly these bytes');
    if (!webhook.isSigned(request)) broken('its signatures are not those of the current secrets');
    if (request.url !== webhook.url && now > webhook.movedAt + underWay)
      broken('pending retries use the new URL');
    if (!webhook.enabled && now > webhook.disabledAt + underWay)
      broken('a disabled webhook receives nothing');
    const promise = webhook.request(request);
    if (promise) broken(promise);
    this.place(chain, request);
    story.requests++;
    this.counts.requests++;
    story.busyUntil = Math.max(story.busyUntil, busyUntil);
    const most = retrySchedule.length * story.chains.size + story.slow + this.faultsOf(story);
    if (story.requests > most) broken(`request ${story.requests} of at most ${most}`);
    return chain;
  }

  private place(chain: Chain, { beganAt: now, deliveryId }: Request): void {
    const { story, window, at } = chain;
    const broken = (promise: string) => this.violated(deliveryId, promise);
    const faults = this.faultsOf(story);
    const faultAt = this.faultAtOf(story);
    const isFaultless = faults === 0 && faultAt === 0;
    const isPaused = window !== undefined && story.webhook.pausedUntil(window.early, now) > window.early;
    if (window && now > window.latest) chain.kept += now - window.latest;
    const isLate = isPaused || chain.kept > lag.usual;
    const hasOthers = story.chains.size > 1 || (story.repeats > 0 && isLate);
    if (faults === 0 && !hasOthers && now < story.busyUntil) broken('twice at once at its receiver');
    if (!window && isFaultless && !hasOthers) broken('a request after the last one');
    if (window && now < window.early && isFaultless && !hasOthers)
      broken('earlier than the schedule or Retry-After');
    const { deliveredAt } = story;
    // A redelivery always makes its first request.
    const begunAt = chain.firstAt || (story.chains.get('') === chain ? 0 : now);
    if (isFaultless && begunAt < deliveredAt && now > deliveredAt + underWay)
      broken('a request after it was delivered');
    if (isFaultless && chain.isReplaced(now - underWay)) broken('a request after a redelivery replaced it');
    // Copies of one number make their requests together.
    if (faultAt >= (at?.beganAt ?? 0)) chain.clean = 0;
    else if (at && now > at.beganAt + hours / 6) chain.clean++;
    const areTwo = chain.live > 1 && chain.clean > 3 && !isPaused && story.repeats === 0;
    if (areTwo && at && now > at.beganAt + hours) broken('two chains, long after the last fault');
    if (chain.firstAt === 0) chain.firstAt = now;
    if (isFaultless && now > chain.firstAt + 72 * hours + chain.kept)
      broken('later than 72 h and the time for which our queues kept it');
    const lo = Math.min(window?.lo ?? last, isFaultless ? last : (at?.lo ?? last));
    const hi = Math.min(last, (window?.hi ?? last) + (window && isPaused ? now - window.early : 0));
    chain.at = { beganAt: now, lo, other: chain.other(now) };
    // Unless it is answered in time, it is made again.
    if (window) this.await(chain, { early: Math.min(now, window.early), latest: now + 15_000, lo, hi });
  }

  answered(chain: Chain, request: Request, result: AttemptResult): void {
    const { story, at } = chain;
    const { webhook } = story;
    const { now } = this.clock;
    const slow = !result.answered && result.reason === 'slow';
    const status = result.answered ? result.status : 0;
    webhook.answered(request, result, now);
    const { lo, hi } = { lo: at?.lo ?? 0, hi: chain.window?.hi ?? last };
    const other = chain.other(now);
    if (slow) {
      story.slow++;
      const next = request.beganAt + 15_000;
      this.await(chain, either({ early: next, latest: next, lo, hi }, other));
    } else if (status === 410 && request.url !== webhook.url) {
      // It says nothing about the new URL.
      this.await(chain, { early: now, latest: now + 120_000, lo, hi });
    } else if (status === 410) {
      chain.window = undefined;
      webhook.goneUrl = request.url;
      this.gone(webhook, story);
    } else if (status >= 200 && status < 300) {
      chain.window = undefined;
      story.deliveredAt = now;
    } else {
      const asked = result.answered ? readAsked(result.retryAfter, now) : 0;
      this.await(chain, either(windowAfter({ lo, hi }, asked, now), other));
    }
  }

  /** "A 410 disables the webhook", unless a kill before that lost it, and the next request was answered well. */
  private gone(webhook: WebhookBook, story: Story): void {
    const { now: at } = this.clock;
    this.check(
      at + lag.usual,
      () => {
        if (webhook.isOff(at) || webhook.movedAt > at - underWay || story.deliveredAt > at) return 0;
        return this.faultAtOf(story) + lag.fault;
      },
      () => this.violated(story.ids.deliveryId, 'a 410 did not disable its webhook'),
    );
  }

  private await(chain: Chain, window: Window | undefined): void {
    chain.window = window;
    if (!window || window.latest === Number.POSITIVE_INFINITY) return;
    const { story } = chain;
    const { webhook } = story;
    const until = (): number => {
      const faultAt = this.faultAtOf(story);
      const { beganAt = 0 } = chain.at ?? {};
      // A message that comes back sends its successor again, for a later time, or finds its webhook disabled.
      const isLate = faultAt > beganAt;
      const since = isLate && chain.at ? Math.min(beganAt, window.early) : window.early;
      if (
        chain.window !== window ||
        chain.isReplaced() ||
        webhook.isOff(since) ||
        (story.announced && story.requests === 0 && story.announced.enabledAt >= window.early) ||
        story.deliveredAt >= (chain.causedAt ?? 0)
      )
        return 0;
      const paused = webhook.pausedUntil(window.early, window.latest + lag.usual);
      const isPaused = paused > window.early;
      // A pause may have used up the rest of its schedule.
      if (isPaused && window.hi + paused - window.early > last) return 0;
      const latest = isLate ? Math.max(window.latest, faultAt) + lag.fault : window.latest;
      // What looks late looks at the pauses then.
      const until = webhook.pausedUntil(window.early, latest + lag.usual);
      return Math.max(latest, until + (isPaused ? lag.usual : 0));
    };
    this.check(window.latest + lag.usual, until, () => {
      const since = new Date(window.latest).toISOString();
      this.violated(story.ids.deliveryId, `lost or late: a request was due at ${since}`);
    });
  }

  /** @param until how long to wait before it is `broken`: 0 if it holds */
  private check(at: number, until: () => number, broken: () => void): void {
    this.clock.after(at - this.clock.now, () => {
      const end = until();
      if (end > this.clock.now) this.check(end, until, broken);
      else if (end > 0) broken();
      return false;
    });
  }

  private faultsOf({ ids: { deliveryId, eventId } }: Story): number {
    return (this.faults.get(deliveryId) ?? 0) + (this.faults.get(eventId) ?? 0);
  }

  private faultAtOf({ ids: { deliveryId, eventId, webhookId }, announced, requests }: Story): number {
    if (announced && requests === 0) return this.faultAt;
    return Math.max(...[deliveryId, eventId, webhookId].map((id) => this.delayed.get(id) ?? 0));
  }

  private story(ids: Ids, text?: string, announced?: WebhookBook): Story {
    const webhook = this.webhooks.get(ids.webhookId) as WebhookBook;
    const known = this.stories.get(ids.deliveryId);
    if (known) return known;
    this.counts.deliveries++;
    const story = new Story(ids, webhook, text, announced);
    this.stories.set(ids.deliveryId, story);
    return story;
  }
}
