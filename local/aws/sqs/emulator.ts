import { existsSync } from 'node:fs';
import { join } from 'node:path';

type Fauxqs = typeof import('fauxqs', { with: { 'resolution-mode': 'import' }});
type Stores = Required<NonNullable<Parameters<Fauxqs['buildApp']>[0]>>['stores'];
type Store = Stores['sqsStore'];
export type Message = Parameters<ReturnType<Store['createQueue']>['enqueue']>[0];

interface Modules {
  'app.js': Pick<Fauxqs, 'buildApp'>;
  'sqs/sqsStore.js': {
    readonly SqsStore: {
      new (): Store;
      createMessage(body: string, attributes: object, delaySeconds: number): Message;
    };
  };
  'sqs/sqsTypes.js': { readonly INVALID_MESSAGE_BODY_CHAR: RegExp };
  'sqs/actions/createQueue.js': {
    createQueue(input: object, store: Store, request: object): { readonly QueueUrl: string };
  };
  'sqs/actions/receiveMessage.js': {
    receiveMessage<Received>(
      input: object,
      store: Store,
    ): Promise<{ readonly Messages?: readonly Received[] }>;
  };
}

/** Characters that SQS rejects in a message. https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html */
const refusedCharacter = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;

/**
 * The SQS emulator and its store. The package exports only a server, which listens on every interface; we also need its queues,
 * to create and save them without requests, and its check of characters, which rejects those beyond U+FFFF, such as emoji.
 *
 * By path, not `import()`: that takes a URL, in which a folder's `%` or `#` has a meaning.
 */
export function loadEmulator() {
  const folder = (require.resolve.paths('fauxqs') ?? [])
    .map((each) => join(each, 'fauxqs', 'dist'))
    .find((each) => existsSync(each));
  const load = <Name extends keyof Modules>(name: Name): Modules[Name] => require(join(folder ?? '', name));
  load('sqs/sqsTypes.js').INVALID_MESSAGE_BODY_CHAR.test = (text) => refusedCharacter.test(text);
  const { SqsStore } = load('sqs/sqsStore.js');
  const store = new SqsStore();
  // Queue URLs contain the request's host: the default, `sqs.REGION.localhost`, does not resolve on many machines.
  store.host = '';
  return {
    app: load('app.js').buildApp({ logger: false, stores: { sqsStore: store } as Stores }),
    store,
    createMessage: SqsStore.createMessage,
    createQueue: load('sqs/actions/createQueue.js').createQueue,
    receiveMessage: load('sqs/actions/receiveMessage.js').receiveMessage,
  };
}
