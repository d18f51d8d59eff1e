import { rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { LOCAL_ACCOUNT_ID } from '../names';
import { refuseForeign } from '../network/loopback-server';
import { type Authorize, accessKeyIdOf, allowEverything } from '../permissions/permissions';
import { readJson, writeJson } from '../state';
import { acceptSqsCharacters } from './emulator';

export interface Queue {
  readonly url: string;
  readonly arn: string;
}

export interface QueueOptions {
  readonly name: string;
  readonly region: string;
  /** As in SQS's `CreateQueue`: `VisibilityTimeout`, `DelaySeconds`, `RedrivePolicy`, … */
  readonly attributes: Readonly<Record<string, string>>;
}

export interface QueueServer {
  /** Where any AWS SDK reaches SQS on this machine. */
  readonly url: string;
  /** @throws Error with SQS's own reason when it refuses the queue */
  createQueue(options: QueueOptions): Promise<Queue>;
  /** Writes the messages of these queues to a file. */
  save(file: string, names: readonly string[]): Promise<void>;
  /** Sends the messages of such a file, if there is one, again, and removes it. Those that were to wait are delayed. */
  restore(file: string, region: string): Promise<void>;
  /** The URL of the queue with this ARN, whether it exists or not. */
  urlOf(queueArn: string): string;
  stop(): Promise<void>;
}

/** As the emulator shows a message. Times are milliseconds since 1970. */
interface Inspected {
  readonly body: string;
  readonly messageAttributes: object;
  readonly delayUntil?: number;
}

interface Inspection {
  readonly messages: {
    readonly ready: readonly Inspected[];
    readonly delayed: readonly Inspected[];
    readonly inflight: readonly { readonly message: Inspected; readonly visibilityDeadline: number }[];
  };
}

interface SavedMessage {
  readonly queue: string;
  readonly body: string;
  readonly attributes: object;
  readonly notBefore: number;
}

/** Seconds: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html */
const longestDelay = 900;

/** The bodies of SQS's JSON protocol, as far as they are changed here. */
interface SqsMessage {
  QueueUrl?: string;
  QueueUrls?: string[];
}

/**
 * Starts an SQS emulator on 127.0.0.1. Messages live in memory. Web pages are refused.
 *
 * fauxqs's own `startFauxqs` listens on every interface, so its app is started by hand. Its queue URLs have the host
 * `sqs.REGION.localhost`, which many machines do not resolve: clients get URLs of the loopback address instead.
 */
export async function startQueues(authorize: Authorize = allowEverything): Promise<QueueServer> {
  const { buildApp } = await import('fauxqs');
  await acceptSqsCharacters();
  const app = buildApp({ logger: false });
  const emulatorUrls = new Map<string, string>();
  const inward = (url: string) => emulatorUrls.get(url) ?? url;
  const outward = (emulatorUrl: string) => {
    const url = emulatorUrl.replace(/^http:\/\/[^/:]+/, 'http://127.0.0.1');
    emulatorUrls.set(url, emulatorUrl);
    return url;
  };
  const arns = new Map<string, string>();
  app.addHook('onRequest', async (request, reply) => {
    if (refuseForeign(request.raw, reply.raw)) reply.hijack();
  });
  app.addHook('preHandler', async (request, reply) => {
    const body = request.body as SqsMessage | undefined;
    const resource = arns.get(body?.QueueUrl ?? '');
    if (resource !== undefined) {
      const accessKeyId = accessKeyIdOf(request.headers.authorization);
      const action = actionOf(String(request.headers['x-amz-target']));
      const message = authorize({ accessKeyId, action, resource });
      if (message !== undefined)
        return reply
          .code(403)
          .headers(accessDenied.headers)
          .send({ ...accessDenied.body, message });
    }
    if (body?.QueueUrl) body.QueueUrl = inward(body.QueueUrl);
  });
  app.addHook('preSerialization', async (_request, _reply, payload: SqsMessage) => {
    if (payload.QueueUrl) return { ...payload, QueueUrl: outward(payload.QueueUrl) };
    if (payload.QueueUrls) return { ...payload, QueueUrls: payload.QueueUrls.map(outward) };
    return payload;
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;

  return {
    url,
    async createQueue({ name, region, attributes }) {
      const answer = await sqsRequest<{ QueueUrl: string }>({ url, region }, 'CreateQueue', {
        QueueName: name,
        Attributes: attributes,
      });
      const arn = `arn:aws:sqs:${region}:${LOCAL_ACCOUNT_ID}:${name}`;
      arns.set(answer.QueueUrl, arn);
      return { url: answer.QueueUrl, arn };
    },
    async save(file, names) {
      const saved: SavedMessage[] = [];
      for (const queue of names) {
        const { messages } = (await (await fetch(`${url}/_fauxqs/queues/${queue}`)).json()) as Inspection;
        const hidden = messages.inflight.map(({ message, visibilityDeadline }) => ({
          ...message,
          delayUntil: visibilityDeadline,
        }));
        for (const message of [...messages.ready, ...messages.delayed, ...hidden]) {
          const { body, messageAttributes: attributes, delayUntil: notBefore = 0 } = message;
          saved.push({ queue, body, attributes, notBefore });
        }
      }
      writeJson(file, saved);
    },
    async restore(file, region) {
      for (const { queue, body, attributes, notBefore } of readJson<SavedMessage[]>(file) ?? []) {
        const wait = Math.ceil((notBefore - Date.now()) / 1_000);
        await sqsRequest({ url, region }, 'SendMessage', {
          QueueUrl: `${url}/${LOCAL_ACCOUNT_ID}/${queue}`,
          MessageBody: body,
          MessageAttributes: attributes,
          DelaySeconds: Math.max(0, Math.min(longestDelay, wait)),
        });
      }
      rmSync(file, { force: true });
    },
    urlOf: (arn) => `${url}/${arn.split(':').slice(4).join('/')}`,
    stop: () => app.close(),
  };
}

/** The permission that a call needs: those on batches are of the single action, in lowercase in SQS's own messages. */
const actionOf = (target: string): string =>
  `sqs:${target
    .replace(/^AmazonSQS\./, '')
    .replace(/Batch$/, '')
    .toLowerCase()}`;

/** As SQS refuses a call. https://github.com/aws/serverless-application-model/issues/3633 */
const accessDenied = {
  headers: { 'x-amzn-query-error': 'AccessDenied;Sender' },
  body: { __type: 'com.amazon.coral.service#AccessDeniedException' },
} as const;

export interface SqsEndpoint {
  readonly url: string;
  readonly region: string;
  /** Whose call it is. @default - the account's own */
  readonly accessKeyId?: string | undefined;
  /** Ends the request early. */
  readonly signal?: AbortSignal;
}

/**
 * One request of SQS's JSON protocol, without the SDK, whose client takes longer to load than the emulator to start.
 */
export async function sqsRequest<Answer>(
  endpoint: SqsEndpoint,
  action: string,
  body: unknown,
): Promise<Answer> {
  const response = await fetch(endpoint.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `AmazonSQS.${action}`,
      authorization: `AWS4-HMAC-SHA256 Credential=${endpoint.accessKeyId ?? 'local'}/20260101/${endpoint.region}/sqs/aws4_request`,
    },
    body: JSON.stringify(body),
    signal: endpoint.signal ?? AbortSignal.timeout(30_000),
  });
  const answer = (await response.json()) as Answer & { message?: string };
  if (!response.ok) throw new Error(`SQS refused ${action}: ${answer.message ?? response.statusText}`);
  return answer;
}
