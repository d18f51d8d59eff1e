import type {
  ChangeMessageVisibilityCommand,
  SendMessageBatchCommand,
  SendMessageBatchRequestEntry,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import type { World } from './functions';

/** The delivery or event of a message, for the names of faults. */
export const subjectOf = (body = ''): string => /"(?:deliveryId|id|eventId)":"([^"]+)"/.exec(body)?.[1] ?? '';

const subjectsOf = (entries: readonly SendMessageBatchRequestEntry[]) =>
  entries.map(({ MessageBody }) => subjectOf(MessageBody));

interface Message {
  readonly id: string;
  readonly body: string;
  readonly sentAt: number;
  receives: number;
  /** The last receive's: an earlier one's receipt changes nothing. */
  receipt: string;
  /** 0 while it is visible. */
  visibleAt: number;
  gone: boolean;
}

/** Then it would be on the dead-letter queue. */
const maxReceives = 1_000;

/** One queue of SQS: at least once, delays, visibility and receive counts. */
export class SimulatedQueue {
  readonly url: string;
  readonly visible: Message[] = [];
  private readonly inFlight = new Map<string, Message>();
  private sent = 0;
  /** Messages that have not gone for good. */
  size = 0;

  constructor(
    readonly name: string,
    /** Milliseconds. */
    private readonly visibilityTimeout: number,
    private readonly world: Pick<World, 'clock' | 'faults' | 'invariants'>,
    /** Called when messages may be received. */
    private readonly wake: () => void,
  ) {
    this.url = `https://sqs.example/000000000000/${name}`;
  }

  add(body: string, delaySeconds = 0): void {
    const id = `${this.name}-${++this.sent}`;
    const sentAt = this.world.clock.now;
    this.count(body, 1);
    this.show(
      { id, body, sentAt, receives: 0, receipt: '', visibleAt: 0, gone: false },
      delaySeconds * 1_000,
    );
  }

  /** @param isCopy the same message, with another receipt, while it is in flight */
  private show(message: Message, delay: number, isCopy = false): void {
    const visibleAt = this.world.clock.now + Math.ceil(delay);
    if (!isCopy) message.visibleAt = visibleAt;
    this.world.clock.after(delay, () => {
      const isDue = isCopy ? message.visibleAt > 0 : message.visibleAt === visibleAt;
      if (message.gone || !isDue) return false;
      if (!isCopy) message.visibleAt = 0;
      this.visible.push(message);
      return this.wake();
    });
  }

  /** Receives at most `max` messages, as Lambda passes them to a function. */
  receive(max: number): SQSRecord[] {
    const { name, visibilityTimeout } = this;
    const { faults, invariants } = this.world;
    return this.visible.splice(0, max).flatMap((message) => {
      const { id, body, sentAt } = message;
      const subject = subjectOf(body);
      if (message.gone) return [];
      if (message.visibleAt > 0) invariants.excuse(subject);
      if (++message.receives > maxReceives) {
        this.remove(message);
        invariants.violated(subject, 'on the dead-letter queue');
        return [];
      }
      message.receipt = `${id}/${message.receives}`;
      this.inFlight.set(message.receipt, message);
      this.show(message, visibilityTimeout);
      if (faults.happen('received twice', name, [subject]))
        this.show(message, visibilityTimeout * ((sentAt * 0.37) % 1) ** 8, true);
      invariants.tell(subject, `received from ${name}`);
      const attributes = { ApproximateReceiveCount: String(message.receives), SentTimestamp: String(sentAt) };
      const eventSourceARN = `arn:aws:sqs:eu-central-1:000000000000:${name}`;
      return { messageId: id, receiptHandle: message.receipt, body, attributes, eventSourceARN } as SQSRecord;
    });
  }

  delete(receipt: string): void {
    const message = this.inFlight.get(receipt);
    this.inFlight.delete(receipt);
    if (message?.receipt !== receipt) return;
    if (!this.world.faults.happen('not deleted', this.name, [subjectOf(message.body)])) this.remove(message);
  }

  private remove(message: Message): void {
    message.gone = true;
    this.count(message.body, -1);
  }

  private count(body: string, change: 1 | -1): void {
    const { invariants } = this.world;
    this.size += change;
    invariants.tell(subjectOf(body), `${change > 0 ? 'sent to' : 'gone from'} ${this.name}`);
    if (this.name !== 'events') invariants.count(body, change);
  }

  /** The delivery or event of a message that is in flight. */
  subjectOf = (receipt: string): string => subjectOf(this.inFlight.get(receipt)?.body);

  hide(receipt: string, seconds: number): void {
    const message = this.inFlight.get(receipt);
    if (message?.receipt === receipt && message.visibleAt > 0) this.show(message, seconds * 1_000);
  }

  /** @throws Error as the SDK does after its own retries */
  async send(entries: readonly SendMessageBatchRequestEntry[]): Promise<object> {
    const { clock, faults } = this.world;
    const place = `to ${this.name}`;
    const refused = entries.filter((entry) => faults.happen('entry refused', place, subjectsOf([entry])));
    const accepted = entries.filter((entry) => !refused.includes(entry));
    const times = faults.happen('sent twice', place, subjectsOf(accepted)) ? 2 : 1;
    for (let time = 0; time < times; time++)
      for (const { MessageBody = '', DelaySeconds } of accepted) this.add(MessageBody, DelaySeconds);
    if (faults.happen('response lost', place, subjectsOf(entries))) {
      await clock.wait(5_000);
      throw new Error('TimeoutError');
    }
    return { Failed: refused.map(({ Id }) => ({ Id, Code: 'InternalError', SenderFault: false })) };
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
      return call(`send to ${queue.name}`, subjectsOf(Entries), () => queue.send(Entries));
    }
    const { ReceiptHandle = '', VisibilityTimeout = 0 } = input as ChangeMessageVisibilityCommand['input'];
    const hide = async () => queue.hide(ReceiptHandle, VisibilityTimeout);
    return call('hide', [queue.subjectOf(ReceiptHandle)], hide);
  };
  return { send } as unknown as SQSClient;
}
