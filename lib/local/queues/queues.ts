import type { AddressInfo } from 'node:net';
import { LOCAL_ACCOUNT_ID } from '../function-runtime/environment';
import { acceptEveryCharacter } from './emulator';
import { createFairQueues, type OutgoingEntry } from './fair-queues';

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
  /** The URL of the queue with this ARN, whether it exists or not. */
  urlOf(queueArn: string): string;
  stop(): Promise<void>;
}

/** The bodies of SQS's JSON protocol, as far as they are touched here. */
interface SqsMessage extends OutgoingEntry {
  QueueUrl?: string;
  QueueUrls?: string[];
  readonly Entries?: OutgoingEntry[];
}

/** The name and ARN of a queue on this machine. */
export function queueArn(name: string, region: string): string {
  return `arn:aws:sqs:${region}:${LOCAL_ACCOUNT_ID}:${name}`;
}

/**
 * Starts an SQS emulator on 127.0.0.1. Messages live as long as it runs.
 *
 * fauxqs's own `startFauxqs` listens on every interface, so its app is started by hand. Its queue URLs lie under
 * `sqs.REGION.localhost`, a name that many machines do not resolve: they leave here as URLs of the loopback address,
 * and are turned back when they come in.
 *
 * @param options.port @default 0, any free port
 */
export async function startQueues(options: { readonly port?: number } = {}): Promise<QueueServer> {
  const { buildApp } = await import('fauxqs');
  await acceptEveryCharacter();
  const { stores, note } = await createFairQueues();
  const app = buildApp({ logger: false, stores });
  const ownUrls = new Map<string, string>();
  const inward = (url: string) => ownUrls.get(url) ?? url;
  const outward = (ownUrl: string) => {
    const url = ownUrl.replace(/^http:\/\/[^/:]+/, 'http://127.0.0.1');
    ownUrls.set(url, ownUrl);
    return url;
  };
  app.addHook('preHandler', async (request) => {
    const body = request.body as SqsMessage | undefined;
    if (body?.QueueUrl) body.QueueUrl = inward(body.QueueUrl);
    for (const entry of body?.Entries ?? (body ? [body] : [])) note(entry);
  });
  app.addHook('preSerialization', async (_request, _reply, payload: SqsMessage) => {
    if (payload.QueueUrl) return { ...payload, QueueUrl: outward(payload.QueueUrl) };
    if (payload.QueueUrls) return { ...payload, QueueUrls: payload.QueueUrls.map(outward) };
    return payload;
  });
  await app.listen({ port: options.port ?? 0, host: '127.0.0.1' });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;

  return {
    url,
    async createQueue({ name, region, attributes }) {
      const answer = await sqsRequest<{ QueueUrl: string }>({ url, region }, 'CreateQueue', {
        QueueName: name,
        Attributes: attributes,
      });
      return { url: answer.QueueUrl, arn: queueArn(name, region) };
    },
    urlOf: (arn) => `${url}/${arn.split(':').slice(4).join('/')}`,
    stop: () => app.close(),
  };
}

export interface SqsEndpoint {
  readonly url: string;
  readonly region: string;
  /** Ends the request early. */
  readonly signal?: AbortSignal;
}

/**
 * One request of SQS's JSON protocol. The local environment's own calls go without the SDK, whose client takes
 * longer to load than the emulator to start.
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
      authorization: `AWS4-HMAC-SHA256 Credential=local/20260101/${endpoint.region}/sqs/aws4_request`,
    },
    body: JSON.stringify(body),
    signal: endpoint.signal ?? AbortSignal.timeout(30_000),
  });
  const answer = (await response.json()) as Answer & { message?: string };
  if (!response.ok) throw new Error(`SQS refused ${action}: ${answer.message ?? response.statusText}`);
  return answer;
}
