import { rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { Message as SdkMessage } from '@aws-sdk/client-sqs';
import { LOCAL_ACCOUNT_ID } from '../../assembly/manifest';
import { allSettledOrThrow } from '../../shared/cleanup';
import { refuseForeign } from '../../shared/loopback-server';
import { readJson, writeJson } from '../../state/json';
import { type Authorize, accessKeyIdOf, allowEverything } from '../iam/permissions';
import { loadEmulator, type Message } from './emulator';

export interface Queue {
  readonly url: string;
  readonly arn: string;
}

interface QueueOptions {
  readonly name: string;
  readonly region: string;
  /** As in SQS's `CreateQueue`: `VisibilityTimeout`, `DelaySeconds`, `RedrivePolicy`, … */
  readonly attributes: Readonly<Record<string, string>>;
}

export type QueueServer = Awaited<ReturnType<typeof startQueues>>;

/** A message as `ReceiveMessage` returns it. */
export type ReceivedMessage = SdkMessage & { readonly MessageId: string; readonly ReceiptHandle: string };

interface SavedMessage extends Pick<Message, 'body'> {
  readonly queue: string;
  readonly attributes: Message['messageAttributes'];
  /** Milliseconds since 1970. */
  readonly notBefore: number;
}

const damaged =
  'It holds messages that waited in queues. Mend it, or delete it to start without them; no other data depends on it.';

/** Starts an SQS emulator on a free port of 127.0.0.1. Messages are stored in memory. Requests from web pages are refused. */
export async function startQueues(authorize: Authorize = allowEverything) {
  const { app, store, createMessage, createQueue, receiveMessage } = loadEmulator();
  app.addHook('onRequest', async (request, reply) => {
    if (refuseForeign(request.raw, reply.raw)) reply.hijack();
  });
  app.addHook('preHandler', async ({ headers, body }, reply) => {
    const queue = store.getQueue((body as { QueueUrl?: string } | undefined)?.QueueUrl ?? '');
    if (!queue) return;
    const accessKeyId = accessKeyIdOf(headers.authorization);
    const action = actionOf(String(headers['x-amz-target']));
    const message = authorize({ accessKeyId, action, resource: queue.arn });
    if (message === undefined) return;
    // SQS's error for a denied call: https://github.com/aws/serverless-application-model/issues/3633
    return reply
      .code(403)
      .header('x-amzn-query-error', 'AccessDenied;Sender')
      .send({ __type: 'com.amazon.coral.service#AccessDeniedException', message });
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;

  /** Received messages become visible: whoever received them stops, too. */
  function messagesOf(queue: string): SavedMessage[] {
    const { ready = [], delayed = [], inflight = [] } = store.inspectQueue(queue)?.messages ?? {};
    return [...inflight.map(({ message }) => ({ ...message, delayUntil: 0 })), ...ready, ...delayed].map(
      ({ body, messageAttributes: attributes, delayUntil: notBefore = 0 }) => ({
        queue,
        body,
        attributes,
        notBefore,
      }),
    );
  }

  /** Each saves the queues of a file. */
  const kept: (() => void)[] = [];

  return {
    /** Endpoint for AWS SDKs. */
    url,
    /** @throws Error with SQS's reason if it rejects the queue */
    createQueue({ name, region, attributes: Attributes }: QueueOptions): Queue {
      const authorization = `Credential=local/20260101/${region}/sqs/aws4_request`;
      const headers = { authorization, host: new URL(url).host };
      const { QueueUrl } = createQueue({ QueueName: name, Attributes }, store, { headers });
      return { url: QueueUrl, arn: `arn:aws:sqs:${region}:${LOCAL_ACCOUNT_ID}:${name}` };
    },
    /** Receives messages for a function: `next` waits for up to 20 s, or until `cancel`. */
    consume(queueArn: string, MaxNumberOfMessages: number) {
      const queue = store.getQueueByArn(queueArn);
      if (!queue) throw new Error(`The queue ${queueArn} does not exist.`);
      const MessageSystemAttributeNames = ['All'];
      const input = { QueueUrl: queue.url, MaxNumberOfMessages, MessageSystemAttributeNames };
      return {
        next: async () =>
          (await receiveMessage<ReceivedMessage>({ ...input, WaitTimeSeconds: 20 }, store)).Messages ?? [],
        delete: ({ ReceiptHandle }: ReceivedMessage) => queue.deleteMessage(ReceiptHandle),
        cancel: () => queue.cancelWaiters(),
      };
    },
    /** Loads these queues' messages from a file, if it exists, and saves them to it when the server stops. */
    keep(file: string, names: readonly string[]): void {
      for (const { queue, body, attributes, notBefore } of readJson<SavedMessage[]>(file, damaged) ?? []) {
        const delaySeconds = Math.max(0, (notBefore - Date.now()) / 1_000);
        store.getQueueByName(queue)?.enqueue(createMessage(body, attributes, delaySeconds));
      }
      rmSync(file, { force: true });
      kept.push(() => writeJson(file, names.flatMap(messagesOf)));
    },
    /** Refuses further messages, then saves what was accepted. */
    async stop(): Promise<void> {
      await app.close();
      await allSettledOrThrow(kept.map(async (save) => save()));
    },
  };
}

/** The permission for a call: a batch needs that of the single action, which SQS's messages print in lowercase. */
const actionOf = (target: string): string =>
  `sqs:${target
    .replace(/^AmazonSQS\./, '')
    .replace(/Batch$/, '')
    .toLowerCase()}`;
