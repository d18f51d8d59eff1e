import { setMaxListeners } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  GetQueueAttributesCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { Webhook } from 'standardwebhooks';
import type { Cleanup } from '../../../local/cleanup';
import { localClient } from '../../support/aws-client';
import { type HttpServer, startHttpServer } from '../../support/http-server';
import type { LocalEnvironment } from '../../support/local-environment';
import { type Checks, oneOf } from '../long-run';
import type { Query } from './deletions';

/**
 * Visibility timeout in seconds, for messages of killed functions. The templates have six times the functions' timeouts, too
 * long for a run of minutes.
 */
export const visibilityTimeout = 30;
/** Milliseconds until everything accepted has been delivered: the fifth attempt is 75 s after the first. */
const patience = 300_000;
/** Milliseconds of a slow receiver. A function waits 15 s. */
const slowness = 14_000;
/** Milliseconds after its 410 in which a receiver may get what was on its way. */
const goneLimit = 60_000;

/** `fickle` fails while its flag is set; `gone` responds with 410. */
type ReceiverKind = 'healthy' | 'fickle' | 'gone' | 'slow';

interface Arrival {
  /** The header `webhook-id`. */
  readonly deliveryId: string;
  /** The event's date and its first request. Milliseconds since 1970. */
  readonly sentAt: number;
  readonly arrivedAt: number;
  accepted: boolean;
}

interface Receiver {
  readonly kind: ReceiverKind;
  readonly webhookId: string;
  readonly verifier: Webhook;
  /** The kind of its events. */
  readonly eventKind: string;
  /** By event. */
  readonly arrivals: Map<string, Arrival>;
  /** Of requests: milliseconds since 1970. */
  readonly times: number[];
  responses: number;
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

/** Responses after which a delivery is retried. */
const failures = [
  { status: 500 },
  { status: 429, headers: { 'retry-after': '2' } },
  { status: 302, headers: { location: '/elsewhere' } },
  'drip',
  'hang',
  'reset',
] as const;

/** Events to an environment's webhooks, and the requests that their receivers get. */
export class Events {
  /** Whether the fickle receiver fails four of five requests. */
  isFailing = false;
  /** Aborted: the slow receivers respond at once. */
  private readonly end = new AbortController();
  private readonly accepted: { readonly id: string; readonly kind: string }[] = [];
  /** By path. */
  private readonly receivers = new Map<string, Receiver>();
  private readonly sqs: SQSClient;
  private readonly outputs: Readonly<Record<string, string>>;
  private slow = 0;
  private sent = 0;

  constructor(
    private readonly local: LocalEnvironment,
    private readonly environment: string,
    private readonly organizationId: string,
    private readonly query: Query,
    private readonly checks: Checks,
  ) {
    this.outputs = local.outputs(environment);
    setMaxListeners(0, this.end.signal);
    this.sqs = new SQSClient(localClient(local.endpoints.sqs ?? ''));
  }

  /** Starts the receivers and adds their webhooks: a healthy, a fickle and a gone one, and `slow` others. */
  async open(cleanup: Cleanup, slow: number): Promise<void> {
    cleanup.add(() => this.sqs.destroy());
    const server = await startHttpServer((request, response) => this.receive(request, response));
    cleanup.add(() => server.stop());
    for (const name of queues) {
      const Attributes = { VisibilityTimeout: String(visibilityTimeout) };
      await this.sqs.send(new SetQueueAttributesCommand({ QueueUrl: this.queueUrl(name), Attributes }));
    }
    for (const kind of ['healthy', 'fickle', 'gone'] as const) await this.add(server, kind, 'wallet.created');
    for (; this.slow < slow; this.slow += 1) await this.add(server, 'slow', `wallet.slow-${this.slow}`);
  }

  /** Sends one event, with retries until the queue accepts it, as a reliable publisher does. @returns its id */
  send = async (kind = 'wallet.created'): Promise<string> => {
    this.sent += 1;
    const id = `${this.environment}-${this.sent}`;
    const event = { id, organizationId: this.organizationId, kind, date: new Date().toISOString() };
    const message = { QueueUrl: this.queueUrl('Events'), MessageBody: eventText(event) };
    for (let tries = 0; ; tries += 1) {
      try {
        await this.sqs.send(new SendMessageCommand(message), { abortSignal: AbortSignal.timeout(3_000) });
        this.accepted.push({ id, kind });
        return id;
      } catch (error) {
        if (tries === 100) throw error;
        await sleep(200);
      }
    }
  };

  /** Sends an event to one slow receiver after the other, if there are any. */
  sendToSlow = async (): Promise<void> => {
    if (this.slow > 0) await this.send(`wallet.slow-${this.sent % this.slow}`);
  };

  endSlowness = () => this.end.abort();

  hasArrived = (eventId: string): boolean => !this.missing().some(({ id }) => id === eventId);

  /** Milliseconds from each event sent since `from` to the healthy receiver. */
  healthyDelays(from: number): readonly number[] {
    return this.all('healthy')
      .flatMap(({ arrivals }) => [...arrivals.values()])
      .filter(({ sentAt }) => sentAt >= from)
      .map(({ sentAt, arrivedAt }) => arrivedAt - sentAt);
  }

  /** Waits until every accepted event has arrived and no message is left. */
  async drain(signal: AbortSignal): Promise<void> {
    const deadline = Date.now() + patience;
    const check = 'accepted events are delivered, and the queues are empty';
    let left: string[] = [];
    do {
      await sleep(200, undefined, { signal });
      left = this.missing().map(({ id, kind }) => `${id} has not arrived at the ${kind} receiver`);
      for (const name of left.length > 0 ? [] : queues) {
        const count = await this.countMessages(name);
        if (count > 0) left.push(`${this.environment}: ${count} messages on the queue ${name}`);
      }
    } while (left.length > 0 && Date.now() < deadline);
    this.checks.hold(check, undefined, this.accepted.length);
    for (const each of left) this.checks.hold(check, each, 0);
  }

  /** Compares rows of attempts with the receivers' responses. On a busy machine a response may be too late: it has a log line. */
  async checkAttempts(): Promise<void> {
    const file = join(this.local.stateDirectory, 'logs', this.environment, 'WebhooksDeliverWebhook.log');
    const log = (await readFile(file, 'utf8')).split('\n');
    for (const { kind, webhookId, responses } of this.all('healthy', 'fickle', 'gone')) {
      const [{ rows } = { rows: 0 }] = await this.query<{ rows: number }>(
        'select count(status)::int as rows from webhook_attempts where webhook_id = $1',
        [webhookId],
      );
      const late = log.filter((line) => line.includes(webhookId) && line.includes('WEBHOOK_SLOW')).length;
      this.checks.hold(
        'every attempt has a row',
        (rows > responses || rows + late < responses) &&
          `${this.environment}: ${rows} rows and ${late} late for ${responses} responses of the ${kind} receiver`,
        responses,
      );
    }
  }

  /** Checks the dead-letter queues, and the webhook whose receiver is gone. */
  async check(): Promise<void> {
    for (const name of ['EventsDeadLetter', 'DeliveryDeadLetter']) {
      const count = await this.countMessages(name);
      this.checks.hold('no message is refused', count > 0 && `${this.environment}: ${count} on ${name}`);
    }
    for (const { webhookId, times } of this.all('gone')) {
      const text = 'select disabled_reason as reason from webhooks where webhook_id = $1';
      const [row] = await this.query<{ reason: string | null }>(text, [webhookId]);
      const [first = 0, last = first] = [times[0], times.at(-1)];
      this.checks.hold(
        'a webhook whose receiver returns 410 is disabled and receives nothing more',
        (row?.reason !== 'gone' || last - first > goneLimit) &&
          `${this.environment}: disabled: ${row?.reason}, requests for ${last - first} ms`,
      );
    }
  }

  private async add({ url }: HttpServer, kind: ReceiverKind, eventKind: string): Promise<void> {
    const path = `${kind}-${this.receivers.size}`;
    const added = await this.local.walletJson<{ webhookId: string; secret: string }>(
      this.environment,
      ...['webhook', 'add', '--organization', this.organizationId, '--kinds', eventKind, '--url', url + path],
    );
    const { webhookId, secret } = added;
    const verifier = new Webhook(secret);
    const seen = { arrivals: new Map(), times: [], responses: 0 };
    this.receivers.set(`/${path}`, { kind, webhookId, verifier, eventKind, ...seen });
  }

  private all = (...kinds: readonly ReceiverKind[]) =>
    [...this.receivers.values()].filter(({ kind }) => kinds.includes(kind));

  /** Accepted events without a success, by receiver. */
  private missing = () =>
    this.all('healthy', 'fickle', 'slow').flatMap(({ kind, eventKind, arrivals }) =>
      this.accepted
        .filter((event) => event.kind === eventKind && !arrivals.get(event.id)?.accepted)
        .map(({ id }) => ({ id, kind })),
    );

  private async receive(...[request, response]: Parameters<Parameters<typeof startHttpServer>[0]>) {
    const arrivedAt = Date.now();
    // The function that sent it may have been killed.
    const body = await text(request).catch(() => undefined);
    const receiver = this.receivers.get(request.url ?? '');
    if (!receiver || body === undefined) return void response.destroy();
    receiver.times.push(arrivedAt);
    const arrival = this.verify(receiver, request.headers as Record<string, string>, body, arrivedAt);
    const respond = (status: number, headers: Readonly<Record<string, string>> = {}) => {
      if (response.destroyed) return;
      receiver.responses += 1;
      if (status < 300 && arrival) arrival.accepted = true;
      response.writeHead(status, headers);
    };
    const { kind } = receiver;
    if (kind === 'slow') await sleep(slowness, undefined, { signal: this.end.signal }).catch(() => undefined);
    const failure = kind === 'fickle' && this.isFailing && Math.random() < 0.8 ? oneOf(failures) : undefined;
    if (failure === 'hang') return;
    if (failure === 'reset') return void request.socket.resetAndDestroy();
    if (failure === 'drip') {
      respond(503);
      const drip = setInterval(() => response.write('.'), 500);
      return void response.on('close', () => clearInterval(drip));
    }
    if (failure) respond(failure.status, 'headers' in failure ? failure.headers : {});
    else respond(kind === 'gone' ? 410 : 204);
    response.end();
  }

  private verify(
    { kind, verifier, arrivals }: Receiver,
    headers: Readonly<Record<string, string>>,
    body: string,
    arrivedAt: number,
  ) {
    const check = (problem: string | false) =>
      this.checks.hold(
        'requests are signed and unchanged, under one webhook-id for all attempts',
        problem && `${this.environment}, ${kind}: ${problem}`,
      );
    let event: WalletEvent;
    try {
      event = verifier.verify(body, headers) as WalletEvent;
    } catch (error) {
      return void check(`not verified: ${(error as Error).message}`);
    }
    const { id, date } = event;
    const signatures = ['webhook-signature', 'x-svc-webhook-signature', 'svc-signature'];
    const deliveryId = headers['webhook-id'] ?? '';
    const arrival = arrivals.get(id) ?? { deliveryId, sentAt: Date.parse(date), arrivedAt, accepted: false };
    arrivals.set(id, arrival);
    check(
      (new Set(signatures.map((name) => headers[name])).size > 1 && `${id} has different signatures`) ||
        (body !== eventText(event) && `${id} was changed`) ||
        (arrival.deliveryId !== deliveryId && `${id} came as ${arrival.deliveryId} and ${deliveryId}`),
    );
    return arrival;
  }

  private queueUrl = (name: string) => this.outputs[`Webhook${name}QueueUrl`];

  private async countMessages(name: string): Promise<number> {
    const { Attributes = {} } = await this.sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: this.queueUrl(name), AttributeNames: ['All'] }),
    );
    return ['', 'NotVisible', 'Delayed']
      .map((state) => Number((Attributes as Record<string, string>)[`ApproximateNumberOfMessages${state}`]))
      .reduce((sum, count) => sum + count);
  }
}

const queues = ['Events', 'Delivery', 'Retry'];
