import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  GetQueueAttributesCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { Webhook } from 'standardwebhooks';
import { localClient } from '../../support/aws-client';
import { startHttpServer } from '../../support/http-server';
import type { LocalEnvironment } from '../../support/local-environment';
import type { Harness } from '../long-run';
import type { Checks } from './checks';

/**
 * Visibility timeout in seconds, for messages of killed functions. The templates have six times the functions' timeouts, too
 * long for a run of minutes.
 */
export const visibilityTimeout = 30;
/** Milliseconds until everything accepted has been delivered: the fifth attempt is 75 s after the first. */
const patience = 300_000;

const queues = ['Events', 'Delivery', 'Retry'];
const deadLetters = ['EventsDeadLetter', 'DeliveryDeadLetter'];

interface WalletEvent {
  readonly id: string;
  readonly organizationId: string;
  readonly date: string;
}

/** The event as JSON. Its data follow from the rest, so that a receiver can check every byte. */
function eventText({ id, organizationId, date }: WalletEvent): string {
  // A number beyond 2^53 changes when it is parsed and written again.
  const data = `{"wallet":"wa-${id}","note":"ü \\"\\\\","amount":12345678901234567890}`;
  return `{"id":"${id}","organizationId":"${organizationId}","kind":"wallet.created","date":"${date}","data":${data}}`;
}

export type Events = Awaited<ReturnType<typeof openEvents>>;

/** Events to a webhook of an environment. */
export async function openEvents(
  local: LocalEnvironment,
  environment: string,
  organizationId: string,
  { checks, cleanup, signal }: Harness & { readonly checks: Checks },
) {
  const accepted: string[] = [];
  /** The header `webhook-id` by event. */
  const arrivals = new Map<string, string>();
  let sent = 0;

  const sqs = new SQSClient(localClient(local.endpoints.sqs ?? ''));
  cleanup.add(() => sqs.destroy());
  const outputs = local.outputs(environment);
  const queueUrl = (name: string) => outputs[`Webhook${name}QueueUrl`];
  for (const name of queues) {
    const Attributes = { VisibilityTimeout: String(visibilityTimeout) };
    await sqs.send(new SetQueueAttributesCommand({ QueueUrl: queueUrl(name), Attributes }));
  }
  async function countMessages(name: string): Promise<number> {
    const wanted = { QueueUrl: queueUrl(name), AttributeNames: ['All' as const] };
    const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand(wanted));
    return ['', 'NotVisible', 'Delayed']
      .map((state) => Number((Attributes as Record<string, string>)[`ApproximateNumberOfMessages${state}`]))
      .reduce((sum, count) => sum + count);
  }

  const server = await startHttpServer(async (request, response) => {
    // The function that sent it may have been killed.
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return void response.destroy();
    verify(request.headers as Record<string, string>, body);
    response.writeHead(204).end();
  });
  cleanup.add(() => server.stop());
  const added = ['webhook', 'add', '--organization', organizationId, '--url', server.url];
  const { secret } = await local.walletJson<{ secret: string }>(environment, ...added);

  function verify(headers: Readonly<Record<string, string>>, body: string): void {
    const check = 'requests are signed and unchanged, under one webhook-id for all attempts';
    try {
      const event = new Webhook(secret).verify(body, headers) as WalletEvent;
      const deliveryId = headers['webhook-id'] ?? '';
      const before = arrivals.get(event.id) ?? deliveryId;
      arrivals.set(event.id, before);
      const isSame = body === eventText(event) && before === deliveryId;
      checks.hold(check, isSame, `${deliveryId}, before ${before}: ${body}`);
    } catch (error) {
      checks.hold(check, false, `${environment}: ${(error as Error).message}`);
    }
  }

  return {
    /** Sends one event, with retries until the queue accepts it, as a reliable publisher does. @returns its id */
    async send(): Promise<string> {
      sent += 1;
      const id = `${environment}-${sent}`;
      const MessageBody = eventText({ id, organizationId, date: new Date().toISOString() });
      for (let tries = 0; ; tries += 1) {
        try {
          const message = new SendMessageCommand({ QueueUrl: queueUrl('Events'), MessageBody });
          await sqs.send(message, { abortSignal: AbortSignal.timeout(3_000) });
          accepted.push(id);
          return id;
        } catch (error) {
          if (tries === 100) throw error;
          await sleep(200);
        }
      }
    },
    hasArrived: (id: string): boolean => arrivals.has(id),
    /** Waits until every accepted event has arrived and no message is left, and checks that. */
    async drain(): Promise<void> {
      const deadline = Date.now() + patience;
      const isDone = async () =>
        accepted.every((id) => arrivals.has(id)) &&
        (await Promise.all(queues.map(countMessages))).every((count) => count === 0);
      while (!(await isDone()) && Date.now() < deadline) await sleep(200, undefined, { signal });
      for (const id of accepted) checks.hold('accepted events are delivered', arrivals.has(id), id);
      for (const name of [...queues, ...deadLetters]) {
        const count = await countMessages(name);
        checks.hold('no message is left or refused', count === 0, `${environment}: ${count} on ${name}`);
      }
    },
  };
}
