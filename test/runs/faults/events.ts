import { setTimeout as sleep } from 'node:timers/promises';
import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Checks } from '../harness/checks';
import type { Ledger } from '../world/ledger';
import { takeDeadLetters } from '../world/queues';
import { eventText } from '../world/wallet-event';
import type { CheckName } from './check-names';
import { Flow } from './flow';

export interface EventsOptions {
  readonly environment: string;
  readonly organizationId: string;
  readonly sqs: SQSClient;
  readonly outputs: Readonly<Record<string, string>>;
  /** Of every webhook of the organization. */
  readonly ledgers: readonly Ledger[];
}

/** Puts events on an environment's queue, and knows which of them have arrived where. */
export class Events {
  /** Ids of the events that the queue has accepted. */
  readonly accepted: string[] = [];
  readonly flow = new Flow({ rate: 1 }, () => this.send().catch(() => undefined));
  private made = 0;
  private closed = false;

  constructor(private readonly options: EventsOptions) {}

  /** Gives up what is being sent. */
  close(): void {
    this.flow.stop();
    this.closed = true;
    this.options.sqs.destroy();
  }

  /** Sends one event until the queue has accepted it, as a publisher does that must not lose it. Gives its id. @throws when closed */
  async send(): Promise<string> {
    const { environment, organizationId, sqs, outputs } = this.options;
    this.made += 1;
    const id = `${environment}-${this.made}`;
    const date = new Date().toISOString();
    const message = new SendMessageCommand({
      QueueUrl: outputs.WebhookEventsQueueUrl,
      MessageBody: eventText({ id, organizationId, kind: 'wallet.created', date }),
    });
    for (;;) {
      try {
        await sqs.send(message, { abortSignal: AbortSignal.timeout(3_000) });
        this.accepted.push(id);
        return id;
      } catch (error) {
        if (this.closed) throw error;
        await sleep(200);
      }
    }
  }

  hasArrived(eventId: string): boolean {
    return this.options.ledgers.every((ledger) => ledger.hasAccepted(eventId));
  }

  /** `EVENT for WEBHOOK`, for each delivery of an accepted event that has not arrived. */
  missing(): string[] {
    return this.accepted.flatMap((id) =>
      this.options.ledgers
        .filter((ledger) => !ledger.hasAccepted(id))
        .map(({ subscription }) => `${id} for ${subscription.webhookId}`),
    );
  }

  get deliveries(): number {
    return this.accepted.length * this.options.ledgers.length;
  }

  /** Holds every request to the webhooks, also those that were answered badly, against what a receiver may expect. */
  checkRequests(checks: Checks<CheckName>): void {
    const name = 'webhooks signed and unchanged, under one webhook-id for all attempts';
    for (const { requests, complaints } of this.options.ledgers.map((ledger) => ledger.report())) {
      checks.hold(name, undefined, requests);
      for (const complaint of complaints) checks.hold(name, complaint, 0);
    }
  }

  /** Takes both dead-letter queues: `EVENT for WEBHOOK`, or `EVENT` when it was never fanned out. */
  async takeDeadLetters(): Promise<string[]> {
    const { sqs, outputs } = this.options;
    const letters = [
      ...(await takeDeadLetters(sqs, outputs.WebhookEventsDeadLetterQueueUrl)),
      ...(await takeDeadLetters(sqs, outputs.WebhookDeliveryDeadLetterQueueUrl)),
    ];
    return letters.map(({ delivery, eventId = 'something else' }) =>
      delivery ? `${eventId} for ${delivery.webhookId}` : eventId,
    );
  }
}
