import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cleanup } from '../../../local/cleanup';
import { sqsRequest } from '../../../local/queues/queues';
import { startHttpServer } from '../../support/http-server';
import { type Received, verifyDelivery } from '../../support/webhook-receiver';
import type { RunningProject } from './project';

/** Messages that one release's functions left on an environment's queues, and the webhook that they are for. */
export interface HeldMessages {
  readonly environment: string;
  readonly webhookId: string;
  readonly secret: string;
  /** On the events queue. */
  readonly event: string;
  /** On the delivery queue, as `fan-out-event` put it there. */
  readonly delivery: string;
  /** On the queue of retries, delayed, as `deliver-webhook` put it there after a failed attempt. */
  readonly retry: string;
}

/** Receives webhooks while releases come and go: it has one address for all of them. */
export interface MessageReceiver {
  url(path: string): string;
  /** What came to a path. */
  arrivals(path: string): readonly Received[];
  /** Lets the sender of the path wait; `refuse` answers it, and asks for the next attempt after half an hour. */
  hold(path: string): { refuse(): void };
}

/** Longer than SQS delays a message: so a copy is sent, where a short delay would only hide the message. */
const retryAfterSeconds = '1800';

export async function startMessageReceiver(cleanup: Cleanup): Promise<MessageReceiver> {
  const arrived = new Map<string, Received[]>();
  const held = new Map<string, Promise<void>>();
  const server = await startHttpServer(async (request, response) => {
    const { headers, socket, url = '' } = request;
    const path = url.slice(1);
    const arrival = { headers, body: await text(request), from: socket.remoteAddress ?? '' };
    arrived.set(path, [...(arrived.get(path) ?? []), arrival]);
    const hold = held.get(path);
    await hold;
    response.writeHead(hold ? 503 : 204, hold && { 'retry-after': retryAfterSeconds }).end();
  });
  cleanup.add(() => server.stop());
  return {
    url: (path) => server.url + path,
    arrivals: (path) => arrived.get(path) ?? [],
    hold(path) {
      let release = () => {};
      held.set(path, new Promise<void>((done) => (release = done)));
      return {
        refuse() {
          release();
          // Whoever comes later is let through: the one who waits has this promise already.
          held.delete(path);
        },
      };
    },
  };
}

/** Lets an environment make messages, and reads them where they wait. @throws Error when one does not appear */
export async function holdMessages(
  project: RunningProject,
  environment: string,
  receiver: MessageReceiver,
): Promise<HeldMessages> {
  const read = async <T>(...args: string[]) =>
    JSON.parse(await project.wallet(environment, ...args, '--json')) as T;
  const { organizationId } = await read<{ organizationId: string }>('seed');
  const organization = ['--organization', organizationId];
  const url = receiver.url(organizationId);
  const { webhookId, secret } = await read<{ webhookId: string; secret: string }>(
    ...['webhook', 'add', ...organization, '--url', url],
  );
  const { refuse } = receiver.hold(organizationId);
  await read(
    'send-event',
    ...organization,
    '--kind',
    'wallet.created',
    '--data',
    '{"wei":12345678901234567890}',
  );
  const { body: event } = await appear('the webhook', async () => receiver.arrivals(organizationId)[0]);
  const find = (state: 'inflight' | 'delayed') =>
    appear(`the ${state} delivery`, async () =>
      (await waiting(project, environment))[state].find((body) => body.includes(webhookId)),
    );
  const delivery = await find('inflight');
  refuse();
  return { environment, webhookId, secret, event, delivery, retry: await find('delayed') };
}

/**
 * Puts messages onto the queues of a release.
 *
 * @param patience milliseconds to wait for each
 * @throws Error for those that do not arrive as they should
 */
export async function replayMessages(
  project: Pick<RunningProject, 'sqs' | 'outputs'>,
  { environment, webhookId, secret, event, delivery, retry }: HeldMessages,
  receiver: Pick<MessageReceiver, 'arrivals'>,
  patience = usualPatience,
): Promise<void> {
  const { organizationId } = JSON.parse(event);
  const { WebhookEventsQueueUrl, WebhookDeliveryQueueUrl, WebhookRetryQueueUrl } =
    project.outputs(environment);
  const region = project.outputs(environment).DatabaseClusterArn?.split(':')[3] ?? '';
  // The time of the retry has come.
  const due = JSON.stringify({ ...JSON.parse(retry), notBefore: Date.now() });
  const messages = [
    ['event', WebhookEventsQueueUrl, event, organizationId],
    ['delivery', WebhookDeliveryQueueUrl, delivery, webhookId],
    ['retry', WebhookRetryQueueUrl, due, webhookId],
  ] as const;
  const problems: string[] = [];
  for (const [name, QueueUrl, MessageBody, MessageGroupId] of messages) {
    const before = receiver.arrivals(organizationId).length;
    await sqsRequest({ url: project.sqs, region }, 'SendMessage', { QueueUrl, MessageBody, MessageGroupId });
    try {
      const arrival = await appear(
        'the webhook',
        async () => receiver.arrivals(organizationId)[before],
        patience,
      );
      verifyDelivery(arrival, secret, 'webhook-signature');
      if (arrival.body !== event) throw new Error(`It has another body: ${arrival.body}`);
    } catch (error) {
      problems.push(`${environment}, the queued ${name}: ${(error as Error).message}`);
    }
  }
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

/** The bodies of the messages on an environment's queues for deliveries. */
async function waiting(project: RunningProject, environment: string) {
  const { WebhookDeliveryQueueUrl, WebhookRetryQueueUrl } = project.outputs(environment);
  const read = async (url = '') => {
    const answer = await fetch(`${project.sqs}/_fauxqs/queues/${url.split('/').at(-1)}`);
    const { messages } = (await answer.json()) as {
      readonly messages: {
        readonly delayed: readonly { readonly body: string }[];
        readonly inflight: readonly { readonly message: { readonly body: string } }[];
      };
    };
    return messages;
  };
  const queues = await Promise.all([WebhookDeliveryQueueUrl, WebhookRetryQueueUrl].map(read));
  return {
    delayed: queues.flatMap(({ delayed }) => delayed.map(({ body }) => body)),
    inflight: queues.flatMap(({ inflight }) => inflight.map(({ message }) => message.body)),
  };
}

/** Milliseconds. */
const usualPatience = 20_000;

async function appear<T>(
  what: string,
  look: () => Promise<T | undefined>,
  patience = usualPatience,
): Promise<T> {
  for (const deadline = Date.now() + patience; Date.now() < deadline; await sleep(50)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error(`In ${patience / 1_000} s ${what} did not appear.`);
}
