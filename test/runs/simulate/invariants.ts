import { deliveryId as idOf, retrySchedule } from '../../../domain/delivery';
import { type DisabledWebhook, disabledEvent } from '../../../domain/event';
import { type AttemptResult, isSlow } from '../../../lambda/deliver-webhook/retry-schedule';
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

export interface Violation {
  readonly text: string;
  /** What its story is about. */
  readonly ids: readonly string[];
}

interface Ids {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly webhookId: string;
}

/** One event for one webhook. */
interface Story extends Ids {
  readonly webhook: WebhookBook;
  readonly text: string;
  /** The webhook whose disabling it tells: until that is enabled again. */
  readonly announces: WebhookBook | undefined;
  requests: number;
  slow: number;
  /** Of its producer: the functions may repeat an announcement. */
  repeats: number;
  busyUntil: number;
  deliveredAt: number;
  readonly chains: Map<string, Chain>;
}

/** One series of attempts. */
interface Chain {
  readonly story: Story;
  /** Undefined if nothing is known that caused it. */
  causedAt: number | undefined;
  window: Window | undefined;
  /** The last request. */
  at: { readonly beganAt: number; readonly lo: number } | undefined;
  firstAt: number;
  /** Milliseconds for which our own queues kept it. */
  kept: number;
}

/**
 * What docs/receivers.md and docs/events.md promise, by books of its own: what producers and operators did, what receivers saw
 * and answered, and which faults happened. It reads no number from a message. Each request is due between two times; each
 * message that a fault meets may cost one request more.
 */
export class Invariants {
  readonly violations: Violation[] = [];
  readonly webhooks = new Map<string, WebhookBook>();
  requests = 0;
  private readonly stories = new Map<string, Story>();
  private readonly faults = new Map<string, { count: number; at: number }>();
  private readonly along = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  violated(subject: string, promise: string): void {
    const time = new Date(this.clock.now).toISOString();
    const { eventId, webhookId } = this.stories.get(subject) ?? {};
    const ids = [subject, eventId, webhookId].filter((id) => id !== undefined);
    this.violations.push({ text: `${time} ${subject} ${promise}`, ids });
  }

  // What happened.

  /** "An id that is sent again reaches only webhooks that had no attempt of it." */
  sent(eventId: string, organizationId: string, text: string, announces?: WebhookBook): void {
    for (const webhook of this.webhooks.values()) {
      if (webhook.organizationId !== organizationId) continue;
      const { webhookId } = webhook;
      const story = this.story({ deliveryId: idOf(eventId, webhookId), eventId, webhookId }, text, announces);
      const chain = this.chain(story, '');
      const isRepeat = chain.causedAt !== undefined;
      if (isRepeat) story.repeats++;
      if (story.requests === 0 && (!chain.window || this.isOff(webhook, chain.window.early)))
        this.expect(chain, isRepeat ? repeatWait : 0);
    }
  }

  redelivered(ids: Ids, text: string, series: string): void {
    this.expect(this.chain(this.story(ids, text), series), 0);
  }

  private expect(chain: Chain, wait: number): void {
    const { now } = this.clock;
    chain.causedAt ??= now;
    // One that is enabled meanwhile may get it.
    const latest = chain.story.webhook.enabled ? now + wait : Number.POSITIVE_INFINITY;
    this.await(chain, { early: now, latest, lo: 0, hi: 0 });
  }

  /** "Your organization's other webhooks then receive an event of that kind, with data {webhookId, reason}." */
  disabled(disabling: DisabledWebhook): void {
    const webhook = this.webhooks.get(disabling.webhookId) as WebhookBook;
    webhook.disable(this.clock.now);
    const { id, text } = disabledEvent(disabling);
    this.sent(id, disabling.organizationId, text, webhook);
  }

  /**
   * A fault met a delivery, an event, or a webhook. Before a delivery's first request it is one of the fan-out, which then repeats
   * the whole event.
   */
  fault(subject: string): void {
    const story = this.stories.get(subject);
    const own = story?.requests === 0 ? story.eventId : subject;
    const { count, at } = this.faults.get(own) ?? { count: 0, at: 0 };
    this.faults.set(own, { count: count + 1, at });
    for (const each of new Set([own, subject])) this.excuse(each);
  }

  /** It may be late, for a fault that another one met. */
  excuse(subject: string): void {
    const { now } = this.clock;
    this.faults.set(subject, { count: this.faults.get(subject)?.count ?? 0, at: now });
    (this.stories.get(subject)?.webhook ?? this.webhooks.get(subject))?.fault(now);
  }

  /** Its function was killed by another message of its batch, which does so each time. */
  killedAlong(subject: string): void {
    const times = (this.along.get(subject) ?? 0) + 1;
    this.along.set(subject, times);
    if (times > mostAlong)
      this.violated(subject, 'is killed along with a message that kills its function, each time');
  }

  /** A message was added, or has gone for good. */
  moved(subject: string): void {
    this.along.delete(subject);
  }

  // What receivers saw.

  /** @param messages of the function: the request is that of the one that is due first */
  request(request: Request, messages: readonly { readonly deliveryId: string; readonly series?: string }[]) {
    const { deliveryId, beganAt: now, busyUntil, body } = request;
    const story = this.stories.get(deliveryId);
    const due = ({ window }: Chain) => window?.early ?? Number.POSITIVE_INFINITY;
    const [chain] = messages
      .flatMap((each) => (each.deliveryId === deliveryId ? (story?.chains.get(each.series ?? '') ?? []) : []))
      .sort((one, other) => due(one) - due(other));
    if (!story || !chain) {
      this.violated(deliveryId, 'nothing caused it');
      throw new Error(deliveryId);
    }
    const { webhook } = story;
    const broken = (promise: string) => this.violated(deliveryId, promise);
    if (body !== story.text) broken('receivers get exactly these bytes');
    if (Math.abs(request.timestamp - now) > 1_000) broken('webhook-timestamp is the time of this attempt');
    if (request.url !== webhook.url && now > webhook.movedAt + underWay)
      broken('pending retries use the new URL');
    if (!webhook.enabled && now > webhook.disabledAt + underWay)
      broken('a disabled webhook receives nothing');
    const promise = webhook.request(request);
    if (promise) broken(promise);
    this.place(chain, request);
    this.requests++;
    story.requests++;
    story.busyUntil = Math.max(story.busyUntil, busyUntil);
    const most = retrySchedule.length * story.chains.size + story.slow + this.faultsOf(story);
    if (story.requests > most) broken(`request ${story.requests} of at most ${most}`);
    return chain;
  }

  /** Compares a request with the time when it was due. */
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
    if (isFaultless && this.isReplaced(chain, now - underWay))
      broken('a request after a redelivery replaced it');
    if (chain.firstAt === 0) chain.firstAt = now;
    if (isFaultless && now > chain.firstAt + 72 * hours + chain.kept)
      broken('later than 72 h and the time for which our queues kept it');
    const lo = Math.min(window?.lo ?? last, isFaultless ? last : (at?.lo ?? last));
    const hi = Math.min(last, (window?.hi ?? last) + (window && isPaused ? now - window.early : 0));
    chain.at = { beganAt: now, lo };
    // Unless it is answered in time, it is made again.
    if (window) this.await(chain, { early: Math.min(now, window.early), latest: now + 15_000, lo, hi });
  }

  /** The receiver's answer reached the function. */
  answered(chain: Chain, request: Request, result: AttemptResult): void {
    const { story, at } = chain;
    const { webhook } = story;
    const { now } = this.clock;
    const status = result.answered ? result.status : 0;
    webhook.answered(request, result, now);
    if (webhook.isBroken())
      this.check(
        now + lag.usual,
        () => (webhook.isBroken() ? now : 0),
        () => this.violated(webhook.webhookId, 'not paused after attempts without a response'),
      );
    const { lo, hi } = { lo: at?.lo ?? 0, hi: chain.window?.hi ?? last };
    if (isSlow(result)) {
      story.slow++;
      const next = request.beganAt + 15_000;
      this.await(chain, { early: next, latest: next, lo, hi });
    } else if (status === 410 && request.url !== webhook.url) {
      // It says nothing about the new URL.
      this.await(chain, { early: now, latest: now + 120_000, lo, hi });
    } else if (status === 410) {
      chain.window = undefined;
    } else if (status >= 200 && status < 300) {
      chain.window = undefined;
      story.deliveredAt = now;
    } else {
      const asked = readAsked(result.answered ? result.retryAfter : undefined, now);
      this.await(chain, windowAfter({ lo, hi }, asked, now));
    }
  }

  // What is due.

  private await(chain: Chain, window: Window | undefined): void {
    chain.window = window;
    if (!window || window.latest === Number.POSITIVE_INFINITY) return;
    const { story } = chain;
    const { webhook, announces } = story;
    const causedAt = chain.causedAt ?? 0;
    const isOver = () =>
      chain.window !== window ||
      this.isReplaced(chain) ||
      this.isOff(webhook, window.early) ||
      story.deliveredAt >= causedAt ||
      (announces !== undefined && announces.enabledAt >= causedAt);
    const until = (): number => {
      if (isOver()) return 0;
      const paused = webhook.pausedUntil(window.early, window.latest + lag.usual);
      const isPaused = paused > window.early;
      // A pause may have used up the rest of its schedule.
      if (isPaused && window.hi + paused - window.early > last) return 0;
      const faultAt = this.faultAtOf(story);
      // A message that comes back sends its successor again, for a later time.
      const isLate = faultAt > (chain.at?.beganAt ?? 0);
      const latest = isLate ? Math.max(window.latest, faultAt) + lag.fault : window.latest;
      // What looks late looks at the pauses then.
      const until = webhook.pausedUntil(window.early, latest + lag.usual);
      return Math.max(latest, until + (isPaused ? lag.usual : 0));
    };
    this.check(window.latest + lag.usual, until, () => {
      const since = new Date(window.latest).toISOString();
      this.violated(story.deliveryId, `lost or late: a request was due at ${since}`);
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

  /** Whether a webhook was disabled at some time since then. */
  private isOff = (webhook: WebhookBook, since: number): boolean =>
    !webhook.enabled || webhook.enabledAt >= since;

  /** Whether a redelivery whose first attempt was later continues instead; for the first series without one, any redelivery. */
  private isReplaced(chain: Chain, before = Number.POSITIVE_INFINITY): boolean {
    const { story, firstAt } = chain;
    if (firstAt === 0 && story.chains.get('') !== chain) return false;
    return [...story.chains.values()].some((other) => other.firstAt > firstAt && other.firstAt < before);
  }

  private faultsOf({ deliveryId, eventId }: Story): number {
    return (this.faults.get(deliveryId)?.count ?? 0) + (this.faults.get(eventId)?.count ?? 0);
  }

  private faultAtOf({ deliveryId, eventId, webhook, announces }: Story): number {
    const times = [deliveryId, eventId, webhook.webhookId].map((id) => this.faults.get(id)?.at ?? 0);
    return Math.max(...times, announces?.faultAt ?? 0);
  }

  private story(ids: Ids, text: string, announces?: WebhookBook): Story {
    const story: Story = this.stories.get(ids.deliveryId) ?? {
      ...ids,
      webhook: this.webhooks.get(ids.webhookId) as WebhookBook,
      text,
      announces,
      requests: 0,
      slow: 0,
      repeats: announces ? 1 : 0,
      busyUntil: 0,
      deliveredAt: 0,
      chains: new Map(),
    };
    this.stories.set(ids.deliveryId, story);
    return story;
  }

  private chain(story: Story, series: string): Chain {
    const chain: Chain = story.chains.get(series) ?? {
      story,
      causedAt: undefined,
      window: undefined,
      at: undefined,
      firstAt: 0,
      kept: 0,
    };
    story.chains.set(series, chain);
    return chain;
  }
}
