import { Webhook } from 'standardwebhooks';
import { type QueueServer, sqsRequest, startQueues } from '../../../local/queues/queues';
import type { Received } from '../../support/webhook-receiver';
import { type HeldMessages, replayMessages } from './messages';

const region = 'eu-central-1';
const secret = 'whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0';
const event = JSON.stringify({ id: 'evt_1', organizationId: 'or-1' });
const delivery = JSON.stringify({ deliveryId: 'msg_1', body: event });
const held: HeldMessages = {
  ...{ environment: 'eu', webhookId: 'wh-1', secret, event, delivery },
  retry: JSON.stringify({ deliveryId: 'msg_1', body: event, notBefore: Date.now() + 1_800_000 }),
};

let queues: QueueServer;
let outputs: Record<
  'WebhookEventsQueueUrl' | 'WebhookDeliveryQueueUrl' | 'WebhookRetryQueueUrl' | 'DatabaseClusterArn',
  string
>;
beforeEach(async () => {
  queues = await startQueues();
  const queue = async (name: string) => (await queues.createQueue({ name, region, attributes: {} })).url;
  outputs = {
    WebhookEventsQueueUrl: await queue('events'),
    WebhookDeliveryQueueUrl: await queue('deliveries'),
    WebhookRetryQueueUrl: await queue('retries'),
    DatabaseClusterArn: `arn:aws:rds:${region}:000000000000:cluster:eu`,
  };
});
afterEach(() => queues.stop());

interface Message {
  readonly Body: string;
}

const receive = async (QueueUrl: string): Promise<Message[]> => {
  const body = { QueueUrl, MaxNumberOfMessages: 10 };
  return (
    (await sqsRequest<{ Messages?: Message[] }>({ url: queues.url, region }, 'ReceiveMessage', body))
      .Messages ?? []
  );
};

/** A release that makes a webhook of each message on the queues, unless it gives none for it. */
async function replayTo(webhookFor: (message: string) => Received | undefined): Promise<void> {
  const arrivals: Received[] = [];
  let ended = false;
  const consume = async () => {
    while (!ended) {
      const messages = [
        ...(await receive(outputs.WebhookEventsQueueUrl)),
        ...(await receive(outputs.WebhookDeliveryQueueUrl)),
        ...(await receive(outputs.WebhookRetryQueueUrl)),
      ];
      arrivals.push(...messages.flatMap(({ Body }) => webhookFor(Body) ?? []));
    }
  };
  const consuming = consume();
  const project = { sqs: queues.url, outputs: () => outputs };
  await replayMessages(project, held, { arrivals: () => arrivals }, 500).finally(() => {
    ended = true;
    return consuming;
  });
}

function webhook(body = event, signedWith = secret): Received {
  const now = new Date();
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': new Webhook(signedWith).sign('msg_1', now, body),
  };
  return { headers, body, from: '127.0.0.1' };
}

it('event, delivery and retry arrive, the retry when its time has come', async () => {
  const seen: string[] = [];
  await replayTo((message) => {
    seen.push(message);
    return webhook();
  });
  expect(seen.slice(0, 2)).toEqual([event, delivery]);
  expect(JSON.parse(seen[2] ?? '').notBefore).toBeLessThanOrEqual(Date.now());
});

it.each<[string, (message: string) => Received | undefined, reason: RegExp]>([
  [
    'is not read',
    (message) => (message === delivery ? undefined : webhook()),
    /^eu, the queued delivery: In 0.5 s the webhook did not appear\.$/,
  ],
  [
    'is signed otherwise',
    (message) => webhook(event, message === event ? 'whsec_b3RoZXItb3RoZXItb3RoZXItb3RoZXI=' : secret),
    /^eu, the queued event: No matching signature found$/,
  ],
  [
    'has another body',
    (message) => webhook(message.includes('notBefore') ? '{}' : event),
    /^eu, the queued retry: It has another body: \{\}$/,
  ],
])('one that %s is named', async (_, webhookFor, reason) => {
  await expect(replayTo(webhookFor)).rejects.toThrow(reason);
});
