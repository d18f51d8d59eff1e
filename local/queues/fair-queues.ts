import { fauxqsFile } from './emulator';

type Fauxqs = typeof import('fauxqs', { with: { 'resolution-mode': 'import' }});
type Stores = NonNullable<NonNullable<Parameters<Fauxqs['buildApp']>[0]>['stores']>;
type SqsStore = Stores['sqsStore'];
type SqsQueue = ReturnType<SqsStore['createQueue']>;
type SqsMessage = SqsQueue['messages'][number];

/** The body of SQS's `SendMessage` or one entry of `SendMessageBatch`, as far as it is changed here. */
export interface OutgoingEntry {
  readonly MessageGroupId?: string;
  MessageAttributes?: object;
}

export interface FairQueues {
  /** The emulator's store of queues. */
  readonly stores: Stores;
  /** Remembers a message's group before it is sent: the emulator drops it on standard queues. */
  readonly note: (entry: OutgoingEntry) => void;
}

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues-detailed.html */
const noisyShare = 0.1;
const noisyCount = 30;

/**
 * Queues that are fair as SQS's standard queues are: a message group that has more than a tenth of the queue's messages
 * in flight, and at least 30, waits while other groups have messages; among several of those, the one with the fewest in
 * flight comes first. SQS's other measure, a group's share of processing time, is not emulated.
 */
export async function createFairQueues(): Promise<FairQueues> {
  const groups = new WeakMap<object, string>();
  const groupOf = (message: SqsMessage) => groups.get(message.messageAttributes);
  const { SqsStore } = (await import(fauxqsFile('sqsStore.js'))) as {
    readonly SqsStore: new () => SqsStore;
  };
  const store = new SqsStore();
  const createQueue = store.createQueue.bind(store);
  store.createQueue = (...options) => {
    const queue = createQueue(...options);
    return queue.isFifo() ? queue : makeFair(queue, groupOf);
  };
  return {
    stores: { sqsStore: store } as Stores,
    note(entry) {
      if (entry.MessageGroupId === undefined) return;
      // The message keeps this very object.
      entry.MessageAttributes ??= {};
      groups.set(entry.MessageAttributes, entry.MessageGroupId);
    },
  };
}

function makeFair(queue: SqsQueue, groupOf: (message: SqsMessage) => string | undefined): SqsQueue {
  const dequeue = queue.dequeue.bind(queue);
  queue.dequeue = (count, ...options) => {
    queue.processTimers();
    const first = firstInLine(queue, count, groupOf);
    if (first) queue.messages = [...first, ...queue.messages.filter((message) => !first.has(message))];
    return dequeue(count, ...options);
  };
  return queue;
}

/** The messages that come next, in their order; undefined when no group is noisy. */
function firstInLine(
  queue: SqsQueue,
  count: number,
  groupOf: (message: SqsMessage) => string | undefined,
): Set<SqsMessage> | undefined {
  const noisy = noisyGroups(queue, groupOf);
  if (noisy.size === 0) return undefined;
  const first = new Set<SqsMessage>();
  const waiting = new Map<string, SqsMessage[]>();
  for (const message of queue.messages) {
    const group = groupOf(message);
    if (group === undefined || !noisy.has(group)) first.add(message);
    else waiting.set(group, [...(waiting.get(group) ?? []), message].slice(0, count));
    if (first.size === count) return first;
  }
  const next = () =>
    [...waiting].filter(([, messages]) => messages.length > 0).sort(([a], [b]) => load(a) - load(b))[0];
  const load = (group: string) => noisy.get(group) ?? 0;
  for (let found = next(); found && first.size < count; found = next()) {
    const [group, messages] = found;
    first.add(messages.shift() as SqsMessage);
    noisy.set(group, load(group) + 1);
  }
  return first;
}

/** How many messages each of the noisy groups has in flight. */
function noisyGroups(
  { inflightMessages }: SqsQueue,
  groupOf: (message: SqsMessage) => string | undefined,
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { message } of inflightMessages.values()) {
    const group = groupOf(message);
    if (group !== undefined) counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  const share = inflightMessages.size * noisyShare;
  return new Map([...counts].filter(([, count]) => count >= noisyCount && count > share));
}
