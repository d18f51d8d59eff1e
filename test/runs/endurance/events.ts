import { setMaxListeners } from 'node:events';
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
import type { Checks, Harness } from '../long-run';
import { oneOf } from './deletions';

/**
 * Visibility timeout in seconds, for messages of killed functions. The templates have six times the functions' timeouts, too
 * long for a run of minutes.
 */
export const visibilityTimeout = 30;
/** Milliseconds until everything accepted has been delivered: the fifth attempt is 75 s after the first. */
const patience = 300_000;
/** Milliseconds of a slow receiver. A function waits 15 s. */
const slowness = 14_000;

const queues = ['Events', 'Delivery', 'Retry'];
const deadLetters = ['EventsDeadLetter', 'DeliveryDeadLetter'];

interface Arrival {
  /** The header `webhook-id`. */
  readonly deliveryId: string;
  /** Milliseconds from the event's date to its first request. */
  readonly delay: number;
  isAccepted: boolean;
}

interface Receiver {
  /** `fickle` fails most requests while receivers fail. */
  readonly kind: 'healthy' | 'fickle' | 'slow';
  readonly verifier: Webhook;
  /** The kind of its events. */
  readonly eventKind: string;
  /** By event. */
  readonly arrivals: Map<string, Arrival>;
}

interface WalletEvent {
  readonly id: string;
  readonly organizationId: string;
  readonly kind: string;
  readonly date: string;
}

/** The event as JSON. Its data follow from the rest, so that a receiver can check every byte. */
function eventText({ id, organizationId, kind, date }: WalletEvent): string {
  // A number beyond 2^53 changes when it is parsed and written again.
  const data = `{"wallet":"wa-${id}","note":"ü \\"\\\\","amount":12345678901234567890}`;
  return `{"id":"${id}","organizationId":"${organizationId}","kind":"${kind}","date":"${date}","data":${data}}`;
}

export type Events = Awaited<ReturnType<typeof openEvents>>;

/** Events to an environment's webhooks, whose receivers are healthy, fickle or, this many of them, slow. */
export async function openEvents(
  local: LocalEnvironment,
  environment: string,
  organizationId: string,
  slow: number,
  { checks, cleanup, signal }: Harness & { readonly checks: Checks },
) {
  const receivers = new Map<string, Receiver>();
  const accepted: { readonly id: string; readonly kind: string }[] = [];
  let sent = 0;
  let isFailing = false;
  const slowPeriod = new AbortController();
  setMaxListeners(0, slowPeriod.signal);

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
    const arrivedAt = Date.now();
    // The function that sent it may have been killed.
    const body = await text(request).catch(() => undefined);
    const receiver = receivers.get(request.url ?? '');
    if (!receiver || body === undefined) return void response.destroy();
    const arrival = verify(receiver, request.headers as Record<string, string>, body, arrivedAt);
    const { kind } = receiver;
    if (kind === 'slow')
      await sleep(slowness, undefined, { signal: slowPeriod.signal }).catch(() => undefined);
    const outcome = kind === 'fickle' && isFailing ? oneOf([204, 429, 500, 'hang', 'reset'] as const) : 204;
    if (outcome === 'reset') return void request.socket.resetAndDestroy();
    if (outcome === 'hang' || response.destroyed) return;
    if (outcome === 204 && arrival) arrival.isAccepted = true;
    response.writeHead(outcome).end();
  });
  cleanup.add(() => server.stop());

  function verify(
    { kind, verifier, arrivals }: Receiver,
    headers: Readonly<Record<string, string>>,
    body: string,
    arrivedAt: number,
  ): Arrival | undefined {
    const check = (problem?: string | false) =>
      checks.hold(
        'requests are signed and unchanged, under one webhook-id for all attempts',
        problem && `${environment}, ${kind}: ${problem}`,
      );
    let event: WalletEvent;
    try {
      event = verifier.verify(body, headers) as WalletEvent;
    } catch (error) {
      return void check(`not verified: ${(error as Error).message}`);
    }
    const { id, date } = event;
    const deliveryId = headers['webhook-id'] ?? '';
    const delay = arrivedAt - Date.parse(date);
    const arrival = arrivals.get(id) ?? { deliveryId, delay, isAccepted: false };
    arrivals.set(id, arrival);
    const isSame = body === eventText(event) && arrival.deliveryId === deliveryId;
    check(!isSame && `${id} came as ${deliveryId}, before as ${arrival.deliveryId}: ${body}`);
    return arrival;
  }

  async function add(kind: Receiver['kind'], eventKind: string): Promise<void> {
    const path = `${kind}-${receivers.size}`;
    const { secret } = await local.walletJson<{ secret: string }>(
      environment,
      ...['webhook', 'add', '--organization', organizationId],
      ...['--kinds', eventKind, '--url', server.url + path],
    );
    receivers.set(`/${path}`, { kind, eventKind, verifier: new Webhook(secret), arrivals: new Map() });
  }
  await add('healthy', 'wallet.created');
  await add('fickle', 'wallet.created');
  for (let index = 0; index < slow; index += 1) await add('slow', `wallet.slow-${index}`);

  /** Sends one event, with retries until the queue accepts it, as a reliable publisher does. @returns its id */
  async function send(kind = 'wallet.created'): Promise<string> {
    sent += 1;
    const id = `${environment}-${sent}`;
    const event = { id, organizationId, kind, date: new Date().toISOString() };
    const message = { QueueUrl: queueUrl('Events'), MessageBody: eventText(event) };
    for (let tries = 0; ; tries += 1) {
      try {
        await sqs.send(new SendMessageCommand(message), { abortSignal: AbortSignal.timeout(3_000) });
        accepted.push({ id, kind });
        return id;
      } catch (error) {
        if (tries === 100) throw error;
        await sleep(200);
      }
    }
  }

  /** Receivers without a success for an event. */
  const missing = ({ id, kind }: (typeof accepted)[number]) =>
    [...receivers.values()].filter(
      ({ eventKind, arrivals }) => eventKind === kind && !arrivals.get(id)?.isAccepted,
    );

  return {
    send: () => send(),
    /** Sends an event to one slow receiver after the other, if there are any. */
    sendToSlow: async () => void (slow > 0 && (await send(`wallet.slow-${sent % slow}`))),
    /** From now on, slow receivers respond at once. */
    endSlowness: () => slowPeriod.abort(),
    failReceivers(fail: boolean): void {
      isFailing = fail;
    },
    hasArrived: (id: string): boolean => missing({ id, kind: 'wallet.created' }).length === 0,
    /** Milliseconds from each event to the healthy receiver. */
    healthyDelays: () =>
      [...receivers.values()]
        .filter(({ kind }) => kind === 'healthy')
        .flatMap(({ arrivals }) => [...arrivals.values()].map(({ delay }) => delay)),
    /** Waits until every accepted event has arrived and no message is left, and checks that. */
    async drain(): Promise<void> {
      const deadline = Date.now() + patience;
      const isDone = async () => {
        if (accepted.some((event) => missing(event).length > 0)) return false;
        return (await Promise.all(queues.map(countMessages))).every((count) => count === 0);
      };
      while (!(await isDone()) && Date.now() < deadline) await sleep(200, undefined, { signal });
      for (const event of accepted) {
        const at = missing(event).map(({ kind }) => kind);
        checks.hold('accepted events are delivered', at.length > 0 && `${event.id} not to ${at}`);
      }
      for (const name of [...queues, ...deadLetters]) {
        const count = await countMessages(name);
        checks.hold('no message is left or refused', count > 0 && `${environment}: ${count} on ${name}`);
      }
    },
  };
}
