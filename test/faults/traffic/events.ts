import { setTimeout as sleep } from 'node:timers/promises';
import {
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { parseDelivery } from '../../../lambda/webhooks/delivery';
import { parseEvent } from '../../../lambda/webhooks/event';
import { eventText } from '../../support/webhooks';
import type { Receiver } from './receivers';

export interface EventsOptions {
  readonly environment: string;
  readonly organizationId: string;
  readonly region: string;
  /** Where SQS is. */
  readonly endpoint: string;
  readonly queueUrl: string;
  readonly subscribers: readonly Subscriber[];
  /** Events a second. */
  readonly rate: number;
}

/** A webhook by the name that its receiver knows it by. */
export interface Subscriber {
  readonly receiver: Receiver;
  readonly name: string;
  readonly webhookId: string;
}

/** Puts events on an environment's queue all the while, and knows which of them have arrived where. */
export class Events {
  /** Ids of the events that the queue has accepted. */
  readonly accepted: string[] = [];
  private readonly sqs: SQSClient;
  private readonly sending = new Set<Promise<unknown>>();
  private made = 0;
  private stopped = false;
  private closed = false;

  constructor(private readonly options: EventsOptions) {
    this.sqs = new SQSClient({
      region: options.region,
      endpoint: options.endpoint,
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    });
  }

  async run(): Promise<void> {
    while (!this.stopped) {
      const sent = this.send()
        .catch(() => undefined)
        .finally(() => this.sending.delete(sent));
      this.sending.add(sent);
      await sleep(1_000 / this.options.rate);
    }
    await Promise.all(this.sending);
  }

  stop(): void {
    this.stopped = true;
  }

  /** What is being sent is given up. */
  close(): void {
    this.stopped = true;
    this.closed = true;
    this.sqs.destroy();
  }

  /** Sends one event until the queue has accepted it, as a publisher does that must not lose it. Gives its id. @throws when closed */
  async send(): Promise<string> {
    this.made += 1;
    const id = `${this.options.environment}-${this.made}`;
    const MessageBody = eventText(this.options.organizationId, id);
    for (;;) {
      try {
        const message = new SendMessageCommand({ QueueUrl: this.options.queueUrl, MessageBody });
        await this.sqs.send(message, { abortSignal: AbortSignal.timeout(3_000) });
        this.accepted.push(id);
        return id;
      } catch (error) {
        if (this.closed) throw error;
        await sleep(200);
      }
    }
  }

  hasArrived(eventId: string): boolean {
    return this.options.subscribers.every(({ receiver, name }) => receiver.hasAccepted(name, eventId));
  }

  /** `EVENT for WEBHOOK`, for each delivery of an accepted event that has not arrived. */
  missing(): string[] {
    return this.accepted.flatMap((id) =>
      this.options.subscribers
        .filter(({ receiver, name }) => !receiver.hasAccepted(name, id))
        .map(({ webhookId }) => `${id} for ${webhookId}`),
    );
  }

  get deliveries(): number {
    return this.accepted.length * this.options.subscribers.length;
  }

  /** Shortens the time until a message is seen again whose function was killed. Seconds. */
  async setVisibilityTimeout(queueUrl: string, seconds: number): Promise<void> {
    await this.sqs.send(
      new SetQueueAttributesCommand({
        QueueUrl: queueUrl,
        Attributes: { VisibilityTimeout: String(seconds) },
      }),
    );
  }

  /** Takes everything from a dead-letter queue: `EVENT for WEBHOOK`, or `EVENT` when it was never fanned out. */
  async takeDeadLetters(queueUrl: string): Promise<string[]> {
    const found: string[] = [];
    for (;;) {
      const { Messages = [] } = await this.sqs.send(
        new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10 }),
      );
      if (Messages.length === 0) return found;
      found.push(...Messages.map(({ Body = '' }) => inWords(Body)));
      const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
      await this.sqs.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
    }
  }
}

function inWords(body: string): string {
  const delivery = parseDelivery(body);
  if (delivery.ok) return `${delivery.value.eventId} for ${delivery.value.webhookId}`;
  const event = parseEvent(body);
  return event.ok ? event.value.id : 'something else';
}
