import { type Delivery, retrySchedule } from '../../../domain/delivery';
import type { AttemptResult } from '../../../lambda/deliver-webhook/retry-schedule';
import type { Clock } from './clock';
import type { SimulatedDatabase } from './database';

const hours = 3_600_000;

/** One request at its receiver. */
export interface Request {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly beganAt: number;
  /** When the receiver is done with it, if it answers within the promised time. */
  readonly busyUntil: number;
}

/** A message of which a request is made. */
export type Planned = Required<
  Pick<Delivery, 'deliveryId' | 'eventId' | 'webhookId' | 'series' | 'number' | 'attempt' | 'paused'>
>;

export const planOf = (delivery: Delivery): Planned => {
  const { deliveryId, eventId, webhookId, series = '', attempt = 1, number = attempt, paused = 0 } = delivery;
  return { deliveryId, eventId, webhookId, series, number, attempt, paused };
};

interface Previous {
  readonly attempt: number;
  readonly beganAt: number;
  /** The earliest time of the next request. */
  readonly next: number;
  /** Milliseconds that the receiver asked for. */
  readonly asked: number;
  readonly slow: boolean;
}

export interface Violation {
  /** Empty if it is about none. */
  readonly eventId: string;
  readonly text: string;
}

/** What is known of one delivery. */
interface Story {
  readonly eventId: string;
  readonly webhookId: string;
  readonly acceptedAt: number;
  requests: number;
  slow: number;
  /** Highest number of a request at the last fault. */
  numberAtFault: number;
  highest: number;
  busyUntil: number;
  firstAt: number;
  readonly series: Map<string, { live: number; isOver: boolean; readonly numbers: Set<number> }>;
  previous?: Previous;
}

/**
 * What docs/receivers.md promises, checked at each step. A delivery that met faults may have one request more after one, and
 * two for each of several; without any it has exactly what the guide says.
 */
export class Invariants {
  readonly violations: Violation[] = [];
  private readonly stories = new Map<string, Story>();
  private readonly faults = new Map<string, number>();

  constructor(
    private readonly clock: Clock,
    private readonly database: SimulatedDatabase,
    /** Whether our own services were down at some time. */
    private readonly hasOutages: boolean,
  ) {}

  counts(): { readonly deliveries: number; readonly requests: number } {
    const stories = [...this.stories.values()];
    return { deliveries: stories.length, requests: stories.reduce((sum, { requests }) => sum + requests, 0) };
  }

  private story({ deliveryId, eventId, webhookId }: Planned): Story {
    const known = this.stories.get(deliveryId);
    if (known) return known;
    const story: Story = {
      ...{ eventId, webhookId, acceptedAt: this.clock.now },
      ...{ requests: 0, slow: 0, numberAtFault: 0, highest: 0, busyUntil: 0, firstAt: 0 },
      series: new Map(),
    };
    this.stories.set(deliveryId, story);
    return story;
  }

  private chain(story: Story, { series }: Planned) {
    const known = story.series.get(series) ?? { live: 0, isOver: false, numbers: new Set<number>() };
    story.series.set(series, known);
    return known;
  }

  /** Milliseconds from the first message of a delivery to its first request, in order. */
  firstAttempts(isWanted: (webhookId: string) => boolean): readonly number[] {
    return [...this.stories.values()]
      .filter(({ webhookId, requests }) => requests > 0 && isWanted(webhookId))
      .map(({ firstAt, acceptedAt }) => firstAt - acceptedAt)
      .sort((one, other) => one - other);
  }

  violated(deliveryId: string, promise: string): void {
    const time = new Date(this.clock.now).toISOString();
    const eventId = this.stories.get(deliveryId)?.eventId ?? '';
    this.violations.push({ eventId, text: `${time} ${deliveryId} ${promise}` });
  }

  /** A fault met a delivery or its event. */
  fault(subject: string): void {
    this.faults.set(subject, (this.faults.get(subject) ?? 0) + 1);
    const story = this.stories.get(subject);
    if (story) story.numberAtFault = story.highest;
  }

  private faultsOf({ deliveryId, eventId }: Planned): number {
    return (this.faults.get(deliveryId) ?? 0) + (this.faults.get(eventId) ?? 0);
  }

  /** A message of a delivery queue was added, or has gone for good. */
  count(body: string, change: 1 | -1): void {
    const planned = planOf(JSON.parse(body));
    const { deliveryId, webhookId } = planned;
    const story = this.story(planned);
    const chain = this.chain(story, planned);
    chain.live += change;
    const webhook = this.database.webhooks.get(webhookId);
    if (chain.live > 0 || chain.isOver || !webhook?.enabled) return;
    // Another series of the delivery replaces it.
    if ([...story.series.values()].some((other) => other !== chain && other.numbers.size > 0)) return;
    this.violated(deliveryId, 'lost: not delivered, given up, stopped or waiting');
  }

  request(planned: Planned, request: Request): void {
    const { deliveryId, beganAt, busyUntil } = request;
    const story = this.story(planned);
    const { number, attempt } = planned;
    const chain = this.chain(story, planned);
    if (story.requests++ === 0) story.firstAt = beganAt;
    const faults = this.faultsOf(planned);
    const isFaultless = faults === 0 && story.series.size === 1;
    const { previous } = story;

    if (isFaultless && beganAt < story.busyUntil) this.violated(deliveryId, 'twice at once at its receiver');
    if (isFaultless && previous) {
      if (beganAt < previous.next) this.violated(deliveryId, 'earlier than the schedule or Retry-After');
      const since = retrySchedule[previous.attempt - 1] ?? 0;
      const waits = this.database.webhooks.get(planned.webhookId)?.waitsUntil ?? 0;
      const isNext = waits > previous.beganAt || attempt === previous.attempt + (previous.slow ? 0 : 1);
      if (!isNext && (retrySchedule[attempt - 2] ?? 0) - since >= previous.asked)
        this.violated(
          deliveryId,
          `attempt ${attempt} after ${previous.attempt}: one was used up without a request`,
        );
    }
    if (isFaultless && !this.hasOutages && beganAt > story.firstAt + 72 * hours)
      this.violated(deliveryId, 'later than 72 h');
    const extra = faults < 2 ? faults : 2 * faults;
    const most = retrySchedule.length * story.series.size + story.slow + extra;
    if (story.requests > most) this.violated(deliveryId, `request ${story.requests} of at most ${most}`);
    if (chain.numbers.has(number) && number > story.numberAtFault + 2)
      this.violated(deliveryId, `number ${number} twice: two chains, two attempts after the last fault`);
    chain.numbers.add(number);
    story.highest = Math.max(story.highest, number);
    story.busyUntil = Math.max(story.busyUntil, busyUntil);
  }

  /** The receiver's answer reached the function. */
  answered(planned: Planned, { beganAt }: Request, result: AttemptResult): void {
    const story = this.story(planned);
    const slow = !result.answered && result.reason === 'slow';
    const status = result.answered ? result.status : 0;
    const { attempt } = planned;
    if (slow) story.slow++;
    else if (attempt >= retrySchedule.length || (status >= 200 && status < 300) || status === 410)
      this.chain(story, planned).isOver = true;
    const { now } = this.clock;
    const at = (retrySchedule[attempt - 1] ?? 0) + planned.paused;
    const after = retrySchedule[attempt] ?? at;
    const last = retrySchedule.at(-1) ?? 0;
    const asked = result.answered ? Math.min(readAsked(result.retryAfter, now), last - at) : 0;
    const next = slow ? beganAt + 15_000 : now + Math.max(0.8 * (after - at), asked);
    story.previous = { attempt, beganAt, asked, slow, next: Math.floor(next) };
  }

  /** A delivery was given up without a request, for the pause of its webhook. */
  gaveUp({ deliveryId, series }: Pick<Planned, 'deliveryId' | 'series'>): void {
    const chain = this.stories.get(deliveryId)?.series.get(series);
    if (chain) chain.isOver = true;
  }

  /** A batch was handled in which a receiver answered 410. */
  afterGone({ deliveryId, webhookId }: Request): void {
    if (this.database.webhooks.get(webhookId)?.enabled)
      this.violated(deliveryId, 'a 410 did not disable its webhook');
  }

  /** The fan-out is done with an event. */
  fannedOut(deliveryIds: readonly string[]): void {
    for (const deliveryId of deliveryIds)
      if (!this.stories.has(deliveryId))
        this.violated(deliveryId, 'lost: its event is done, without a delivery');
  }
}

const readAsked = (text: string | undefined, now: number) =>
  Math.min(
    6 * hours,
    text === undefined ? 0 : /^\d+$/.test(text) ? Number(text) * 1_000 : Math.max(0, Date.parse(text) - now),
  );
