import type {
  ChangeMessageVisibilityCommand,
  SendMessageBatchCommand,
  SendMessageBatchRequestEntry,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import type { Clock } from './clock';
import type { Faults } from './faults';

/** The delivery or event of a message, for the names of faults. */
export const subjectOf = (body: string): string =>
  /"(?:deliveryId|id|eventId)":"([^"]+)"/.exec(body)?.[1] ?? '';

const subjectsOf = (entries: readonly SendMessageBatchRequestEntry[] = []) =>
  entries.map(({ MessageBody = '' }) => subjectOf(MessageBody));

interface Message {
  readonly id: string;
  readonly body: string;
  readonly sentAt: number;
  receives: number;
  /** The last receive's: an earlier one's receipt changes nothing. */
  receipt: string;
  visibleAt: number;
  gone: boolean;
}

export interface QueueSettings {
  readonly name: string;
  /** Milliseconds. */
  readonly visibilityTimeout: number;
  /** A message that is received more often is told, and gone. */
  readonly deadLetter: (body: string) => void;
  /** Called when messages may be received. */
  readonly wake: () => void;
  /** A message was added, or has gone for good. */
  readonly count: (body: string, change: 1 | -1) => void;
  /** A message in flight is received again. */
  readonly duplicated: (subject: string) => void;
}

const maxReceives = 1_000;

/** One queue of SQS: at least once, delays, visibility, receive counts and dead letters. */
export class SimulatedQueue {
  readonly url: string;
  readonly visible: Message[] = [];
  private readonly inFlight = new Map<string, Message>();
  private sent = 0;
  /** Messages that have not gone for good. */
  size = 0;

  constructor(
    readonly settings: QueueSettings,
    private readonly clock: Clock,
    private readonly faults: Faults,
  ) {
    this.url = `https://sqs.example/000000000000/${settings.name}`;
  }

  add(body: string, delaySeconds = 0): void {
    const id = `${this.settings.name}-${++this.sent}`;
    const message = { id, body, sentAt: this.clock.now, receives: 0, receipt: '', visibleAt: 0, gone: false };
    this.size++;
    this.settings.count(body, 1);
    this.show(message, delaySeconds * 1_000);
  }

  private show(message: Message, delay: number): void {
    const visibleAt = this.clock.now + Math.ceil(delay);
    message.visibleAt = visibleAt;
    this.clock.after(delay, () => {
      if (message.gone || message.visibleAt !== visibleAt) return false;
      message.visibleAt = 0;
      this.visible.push(message);
      return this.settings.wake();
    });
  }

  /** The same message, with another receipt, while it is in flight. */
  private duplicate(message: Message, delay: number): void {
    this.clock.after(delay, () => {
      if (message.gone || message.visibleAt === 0) return false;
      this.visible.push(message);
      return this.settings.wake();
    });
  }

  /** Receives at most `max` messages, as Lambda passes them to a function. */
  receive(max: number): SQSRecord[] {
    const { name, visibilityTimeout, deadLetter } = this.settings;
    return this.visible.splice(0, max).flatMap((message) => {
      const { id, body, sentAt } = message;
      if (message.gone) return [];
      if (message.visibleAt > 0) this.settings.duplicated(subjectOf(body));
      if (++message.receives > maxReceives) {
        this.remove(message);
        deadLetter(body);
        return [];
      }
      message.receipt = `${id}/${message.receives}`;
      this.inFlight.set(message.receipt, message);
      this.show(message, visibilityTimeout);
      if (this.faults.happen('received twice', name, [subjectOf(body)]))
        this.duplicate(message, visibilityTimeout * ((sentAt * 0.37) % 1) ** 8);
      const attributes = { ApproximateReceiveCount: String(message.receives), SentTimestamp: String(sentAt) };
      const eventSourceARN = `arn:aws:sqs:eu-central-1:000000000000:${name}`;
      return { messageId: id, receiptHandle: message.receipt, body, attributes, eventSourceARN } as SQSRecord;
    });
  }

  /** Lambda deletes a message that its function has handled. */
  delete(receipt: string): void {
    const message = this.inFlight.get(receipt);
    this.inFlight.delete(receipt);
    if (message?.receipt !== receipt) return;
    if (!this.faults.happen('not deleted', this.settings.name, [subjectOf(message.body)]))
      this.remove(message);
  }

  /** The delivery or event of a message that is in flight. */
  subjectOf = (receipt: string): string => subjectOf(this.inFlight.get(receipt)?.body ?? '');

  hide(receipt: string, seconds: number): void {
    const message = this.inFlight.get(receipt);
    if (message?.receipt === receipt && message.visibleAt > 0) this.show(message, seconds * 1_000);
  }

  private remove(message: Message): void {
    message.gone = true;
    this.size--;
    this.settings.count(message.body, -1);
  }

  /** @throws Error as the SDK does after its own retries */
  async send(entries: readonly SendMessageBatchRequestEntry[]): Promise<object> {
    const place = `to ${this.settings.name}`;
    const isRefused = ({ MessageBody = '' }: SendMessageBatchRequestEntry) =>
      this.faults.happen('entry refused', place, [subjectOf(MessageBody)]);
    const refused = new Set(entries.filter(isRefused));
    const accepted = entries.filter((entry) => !refused.has(entry));
    const times = this.faults.happen('sent twice', place, subjectsOf(accepted)) ? 2 : 1;
    for (let time = 0; time < times; time++)
      for (const { MessageBody = '', DelaySeconds } of accepted) this.add(MessageBody, DelaySeconds);
    if (this.faults.happen('response lost', place, subjectsOf(entries))) {
      await this.clock.wait(5_000);
      throw new Error('TimeoutError');
    }
    return { Failed: [...refused].map(({ Id }) => ({ Id, Code: 'InternalError', SenderFault: false })) };
  }
}

/** The SDK's client for these queues, of which each call goes through `call`. */
export function createClient(
  queues: readonly SimulatedQueue[],
  call: <T>(place: string, subjects: readonly string[], work: () => Promise<T>) => Promise<T>,
): SQSClient {
  const send = async ({ input }: SendMessageBatchCommand | ChangeMessageVisibilityCommand) => {
    const queue = queues.find(({ url }) => url === input.QueueUrl) as SimulatedQueue;
    if ('Entries' in input) {
      const { Entries = [] } = input;
      return call(`send to ${queue.settings.name}`, subjectsOf(Entries), () => queue.send(Entries));
    }
    const { ReceiptHandle = '', VisibilityTimeout = 0 } = input as ChangeMessageVisibilityCommand['input'];
    const hide = async () => queue.hide(ReceiptHandle, VisibilityTimeout);
    return call('hide', [queue.subjectOf(ReceiptHandle)], hide);
  };
  return { send } as unknown as SQSClient;
}
