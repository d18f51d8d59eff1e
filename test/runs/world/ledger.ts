import { Webhook } from 'standardwebhooks';
import { eventText, type WalletEvent } from './wallet-event';

/** A webhook as its receiver knows it. */
export interface Subscription {
  readonly webhookId: string;
  readonly organizationId: string;
  /** `whsec_…` */
  readonly secret: string;
}

/** What a receiver saw of one event. */
export interface Arrival {
  readonly eventId: string;
  /** The header `webhook-id`. */
  readonly deliveryId: string;
  requests: number;
  /** How many of them were answered with 2xx. */
  accepted: number;
  /** Milliseconds from the event's date to the first request. */
  readonly delay: number;
}

/** What a receiver saw of one webhook. */
export interface WebhookReport {
  readonly webhookId: string;
  readonly arrivals: readonly Arrival[];
  readonly requests: number;
  /** Requests that got a status. */
  readonly answered: number;
  /** Requests over a kept connection that it cut before an answer: the same attempt sends them again. */
  readonly cut: number;
  /** Requests that are not signed, changed, or under another id than before. At most ten are kept. */
  readonly complaints: readonly string[];
  /** When each request came: milliseconds since 1970. */
  readonly times: readonly number[];
}

export interface IncomingRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Milliseconds since 1970. */
  readonly arrivedAt: number;
}

/** Records what arrives for a webhook, and checks it as a receiver does. */
export class Ledger {
  private readonly webhook: Webhook;
  private readonly arrivals = new Map<string, Arrival>();
  private readonly complaints: string[] = [];
  private readonly times: number[] = [];
  private answered = 0;
  private cut = 0;

  constructor(readonly subscription: Subscription) {
    this.webhook = new Webhook(subscription.secret);
  }

  /** The event's entry, or undefined for a request that no receiver should take. */
  enter({ headers, body, arrivedAt }: IncomingRequest): Arrival | undefined {
    this.times.push(arrivedAt);
    const event = this.verify(headers, body);
    if (!event) return undefined;

    const deliveryId = headers['webhook-id'] ?? '';
    const known = this.arrivals.get(event.id);
    if (known && known.deliveryId !== deliveryId) {
      return this.complain(`${event.id} came as ${known.deliveryId} and as ${deliveryId}`);
    }
    const delay = arrivedAt - Date.parse(event.date);
    const arrival = known ?? { eventId: event.id, deliveryId, requests: 0, accepted: 0, delay };
    this.arrivals.set(event.id, arrival);
    arrival.requests += 1;
    return arrival;
  }

  countAnswer(arrival: Arrival, status: number): void {
    this.answered += 1;
    if (status >= 200 && status < 300) arrival.accepted += 1;
  }

  countCut(): void {
    this.cut += 1;
  }

  /** Whether a request with the event was answered with 2xx. */
  hasAccepted(eventId: string): boolean {
    return (this.arrivals.get(eventId)?.accepted ?? 0) > 0;
  }

  report(): WebhookReport {
    const { answered, complaints, cut, times } = this;
    return {
      webhookId: this.subscription.webhookId,
      arrivals: [...this.arrivals.values()],
      ...{ requests: times.length, answered, complaints, cut, times },
    };
  }

  private verify(headers: IncomingRequest['headers'], body: string): WalletEvent | undefined {
    let event: WalletEvent;
    try {
      event = this.webhook.verify(body, headers) as WalletEvent;
    } catch (error) {
      return this.complain(`not verified: ${(error as Error).message}`);
    }
    const signatures = ['webhook-signature', 'x-svc-webhook-signature', 'svc-signature'].map(
      (name) => headers[name],
    );
    if (new Set(signatures).size !== 1) return this.complain(`${event.id} has different signatures`);
    if (body !== eventText(event) || event.organizationId !== this.subscription.organizationId) {
      return this.complain(`${event.id} is not the event that was sent`);
    }
    return event;
  }

  private complain(complaint: string): undefined {
    if (this.complaints.length < 10) this.complaints.push(`${this.subscription.webhookId}: ${complaint}`);
    return undefined;
  }
}
