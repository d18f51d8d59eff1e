import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { Webhook } from 'standardwebhooks';
import type { Environment } from '../../../lib/environment';
import type { Cleanup } from '../../../local/cleanup';
import { localClient } from '../../support/aws-client';
import { type HttpServer, startHttpServer } from '../../support/http-server';
import type { LocalEnvironment } from '../../support/local-environment';
import type { Organization } from '../../support/organization';
import { type Checks, oneOf } from '../long-run';
import type { Groups } from './groups';

/**
 * Visibility timeout in seconds, for messages of killed functions. The templates have six times the functions' timeouts, too
 * long for a run of minutes.
 */
export const visibilityTimeout = 30;

/** `fickle` fails while its flag is set; `gone` responds with 410; `slow` takes 14 s. */
type ReceiverKind = 'healthy' | 'fickle' | 'gone' | 'slow';

interface Arrival {
  /** The header `webhook-id`. */
  readonly deliveryId: string;
  /** The event's date and its first request. Milliseconds since 1970. */
  readonly sentAt: number;
  readonly arrivedAt: number;
  accepted: boolean;
}

interface Subscription {
  readonly kind: ReceiverKind;
  readonly webhookId: string;
  readonly organizationId: string;
  readonly verifier: Webhook;
  /** By event. */
  readonly arrivals: Map<string, Arrival>;
  /** Arrival of each request: milliseconds since 1970. */
  readonly times: number[];
  /** Responses sent. */
  answered: number;
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

/** Events to one environment's webhooks, and the requests that their receivers get. */
export class Webhooks {
  /** Whether the fickle receiver fails four of five requests. */
  failing = false;
  private areSlow = false;
  /** Ids of the events that the queue accepted. */
  private readonly accepted: string[] = [];
  private sentToSlow = 0;
  private readonly subscriptions = new Map<string, Subscription>();
  private readonly sqs: SQSClient;
  private readonly outputs: Readonly<Record<string, string>>;
  private server: HttpServer | undefined;
  private sent = 0;

  constructor(
    private readonly local: LocalEnvironment,
    private readonly environment: Environment,
    private readonly groups: Groups,
    private readonly random: () => number,
    private readonly checks: Checks,
  ) {
    this.outputs = local.outputs(environment.name);
    this.sqs = new SQSClient({ ...localClient(local.endpoints.sqs ?? ''), region: environment.region });
  }

  /** Starts the receivers, adds a healthy, a fickle and a gone webhook, and `slow` ones in another organization. */
  async open(cleanup: Cleanup, slow: number): Promise<void> {
    cleanup.add(() => this.sqs.destroy());
    this.server = await startHttpServer((request, response) => this.receive(request, response));
    cleanup.add(() => this.server?.stop());
    for (const name of ['Events', 'Delivery', 'Retry']) {
      const Attributes = { VisibilityTimeout: String(visibilityTimeout) };
      await this.sqs.send(new SetQueueAttributesCommand({ QueueUrl: this.queueUrl(name), Attributes }));
    }
    const { organizationId } = this.groups.organization;
    for (const kind of ['healthy', 'fickle', 'gone'] as const) await this.add(kind, organizationId);
    if (slow === 0) return;
    const other = await this.local.walletJson<Organization>(this.environment.name, 'seed');
    for (let index = 0; index < slow; index += 1)
      await this.add('slow', other.organizationId, `wallet.slow-${index}`);
    // Fast so far, so that their webhooks are in good standing.
    for (let index = 0; index < slow; index += 1) await this.sendToSlow();
    while (this.all('slow').some(({ answered }) => answered === 0)) await sleep(50);
    this.areSlow = true;
  }

  /** Sends events at a steady rate. @param slow also to the slow receivers @returns a function that stops it */
  start(rate: number, slow: boolean): () => Promise<void> {
    const stopping = new AbortController();
    const all = Promise.all([
      this.sendSteadily(rate, stopping.signal, () => this.send()),
      slow && this.sendSteadily(rate, stopping.signal, () => this.sendToSlow()),
    ]);
    return async () => {
      stopping.abort();
      await all;
    };
  }

  /** Sends one event, with retries until the queue accepts it, as a reliable publisher does. @returns its id */
  async send(): Promise<string> {
    const id = await this.publish(this.groups.organization.organizationId, 'wallet.created');
    this.accepted.push(id);
    return id;
  }

  hasArrived(eventId: string): boolean {
    return this.mustAccept().every(({ arrivals }) => arrivals.get(eventId)?.accepted);
  }

  /** Deletes the slow webhooks, and so their backlog. */
  async removeSlow(): Promise<void> {
    for (const { webhookId } of this.all('slow'))
      await this.local.wallet(this.environment.name, 'webhook', 'remove', '--webhook', webhookId);
  }

  /** Milliseconds from each event sent since `from` to the healthy receiver. */
  healthyDelays(from: number): readonly number[] {
    return this.all('healthy')
      .flatMap(({ arrivals }) => [...arrivals.values()])
      .filter(({ sentAt }) => sentAt >= from)
      .map(({ sentAt, arrivedAt }) => arrivedAt - sentAt);
  }

  /** Waits until every accepted event has arrived and no message is left. @param patience milliseconds */
  async drain(patience: number, signal: AbortSignal): Promise<void> {
    const deadline = Date.now() + patience;
    let left: string[] = [];
    do {
      await sleep(200, undefined, { signal });
      left = this.missing();
      for (const name of left.length > 0 ? [] : ['Events', 'Delivery', 'Retry']) {
        const count = await this.countMessages(name);
        if (count > 0) left.push(`${count} messages on the queue ${name}`);
      }
    } while (left.length > 0 && Date.now() < deadline);
    const check = 'accepted events are delivered, and the queues are empty';
    this.checks.hold(check, undefined, this.accepted.length);
    for (const each of left) this.checks.hold(check, `${this.environment.name}: ${each}`, 0);
  }

  /** Checks requests to receivers and the dead-letter queues against the guarantees. */
  async check(): Promise<void> {
    const { name } = this.environment;
    for (const queue of ['EventsDeadLetter', 'DeliveryDeadLetter'])
      this.checks.hold(
        'no message is refused',
        (await this.countMessages(queue)) > 0 && `${name}: ${await this.deadLetterReason(queue)}`,
      );
    for (const { webhookId, times } of this.all('gone')) {
      const disabled = await this.groups.query<{ disabled_reason: string }>(
        'select disabled_reason from webhooks where webhook_id = $1',
        [webhookId],
      );
      const [first = 0, last = first] = [times[0], times.at(-1)];
      this.checks.hold(
        'a webhook whose receiver returns 410 is disabled and receives nothing more',
        (times.length > 0 && disabled[0]?.disabled_reason !== 'gone' && `${name}: it is not disabled`) ||
          (last - first > 60_000 && `${name}: it still got requests after ${last - first} ms`),
      );
    }
  }

  /** Compares the rows of attempts with the receivers' responses: exact while nothing is killed. */
  async checkAttempts(): Promise<void> {
    for (const { kind, webhookId, answered } of this.subscriptions.values()) {
      if (kind === 'slow') continue;
      const [row] = await this.groups.query<{ count: number }>(
        'select count(status)::int as count from webhook_attempts where webhook_id = $1',
        [webhookId],
      );
      this.checks.hold(
        'every attempt has a row',
        row?.count !== answered &&
          `${this.environment.name}: ${row?.count} rows for ${answered} responses of the ${kind} receiver`,
      );
    }
  }

  private async add(kind: ReceiverKind, organizationId: string, eventKind = 'wallet.created') {
    const path = `${kind}-${this.subscriptions.size}`;
    const added = await this.local.walletJson<{ webhookId: string; secret: string }>(
      this.environment.name,
      ...['webhook', 'add', '--organization', organizationId, '--kinds', eventKind],
      ...['--url', `${this.server?.url}${path}`],
    );
    this.subscriptions.set(`/${path}`, {
      ...{ kind, organizationId, webhookId: added.webhookId, answered: 0, times: [] },
      ...{ arrivals: new Map(), verifier: new Webhook(added.secret) },
    });
  }

  private all = (...kinds: ReceiverKind[]) =>
    [...this.subscriptions.values()].filter(({ kind }) => kinds.includes(kind));

  /** Subscriptions that get every event. */
  private mustAccept = () => this.all('healthy', 'fickle');

  private missing(): string[] {
    return this.mustAccept().flatMap(({ kind, arrivals }) =>
      this.accepted
        .filter((id) => !arrivals.get(id)?.accepted)
        .map((id) => `${id} has not arrived at the ${kind} receiver`),
    );
  }

  private sendToSlow = async () => {
    const slow = this.all('slow');
    const { organizationId } = slow[0] as Subscription;
    const kind = `wallet.slow-${this.sentToSlow % slow.length}`;
    this.sentToSlow += 1;
    await this.publish(organizationId, kind);
  };

  private async sendSteadily(rate: number, signal: AbortSignal, send: () => Promise<unknown>) {
    const sending: Promise<unknown>[] = [];
    while (!signal.aborted) {
      sending.push(send());
      await sleep(1_000 / rate, undefined, { signal }).catch(() => undefined);
    }
    await Promise.all(sending);
  }

  private async publish(organizationId: string, kind: string): Promise<string> {
    this.sent += 1;
    const id = `${this.environment.name}-${this.sent}`;
    const message = new SendMessageCommand({
      QueueUrl: this.queueUrl('Events'),
      MessageBody: eventText({ id, organizationId, kind, date: new Date().toISOString() }),
    });
    for (let deadline = Date.now() + 60_000; ; ) {
      try {
        await this.sqs.send(message, { abortSignal: AbortSignal.timeout(3_000) });
        return id;
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await sleep(200);
      }
    }
  }

  private async receive(...[request, response]: Parameters<Parameters<typeof startHttpServer>[0]>) {
    const arrivedAt = Date.now();
    // The function that sent it may have been killed.
    const body = await text(request).catch(() => undefined);
    const subscription = this.subscriptions.get(request.url ?? '');
    if (!subscription || body === undefined) return void response.destroy();
    subscription.times.push(arrivedAt);
    const headers = request.headers as Readonly<Record<string, string>>;
    const arrival = this.verify(subscription, headers, body, arrivedAt);
    const answer = (status: number, more: Readonly<Record<string, string>> = {}) => {
      if (response.destroyed) return;
      subscription.answered += 1;
      if (status < 300 && arrival) arrival.accepted = true;
      response.writeHead(status, more);
    };
    const { kind } = subscription;
    if (kind === 'slow' && this.areSlow) await sleep(14_000);
    const failure =
      kind === 'fickle' && this.failing && this.random() < 0.8 ? oneOf(this.random, failures) : undefined;
    if (failure === 'hang') return;
    if (failure === 'reset') return void request.socket.resetAndDestroy();
    if (failure === 'drip') {
      answer(503);
      const drip = setInterval(() => response.write('.'), 500);
      return void response.on('close', () => clearInterval(drip));
    }
    if (failure) answer(failure.status, 'headers' in failure ? failure.headers : undefined);
    else answer(kind === 'gone' ? 410 : 204);
    response.end();
  }

  private verify(
    { kind, verifier, arrivals, organizationId }: Subscription,
    headers: Readonly<Record<string, string>>,
    body: string,
    arrivedAt: number,
  ): Arrival | undefined {
    const problem = (text: string | false) =>
      this.checks.hold(
        'requests are signed and unchanged, under one webhook-id for all attempts',
        text && `${this.environment.name}, ${kind}: ${text}`,
      );
    let event: WalletEvent;
    try {
      event = verifier.verify(body, headers) as WalletEvent;
    } catch (error) {
      return void problem(`not verified: ${(error as Error).message}`);
    }
    const signatures = ['webhook-signature', 'x-svc-webhook-signature', 'svc-signature'].map(
      (name) => headers[name],
    );
    const deliveryId = headers['webhook-id'] ?? '';
    const first = arrivals.get(event.id);
    const arrival = first ?? { deliveryId, sentAt: Date.parse(event.date), arrivedAt, accepted: false };
    arrivals.set(event.id, arrival);
    problem(
      (new Set(signatures).size !== 1 && `${event.id} has different signatures`) ||
        (body !== eventText(event) && `${event.id} was changed`) ||
        (event.organizationId !== organizationId && `${event.id} is another organization's`) ||
        (arrival.deliveryId !== deliveryId && `${event.id} came as ${arrival.deliveryId} and ${deliveryId}`),
    );
    return arrival;
  }

  private queueUrl = (name: string) => this.outputs[`Webhook${name}QueueUrl`];

  private async countMessages(name: string): Promise<number> {
    const { Attributes } = await this.sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: this.queueUrl(name), AttributeNames: ['All'] }),
    );
    return (['', 'NotVisible', 'Delayed'] as const)
      .map((state) => Number(Attributes?.[`ApproximateNumberOfMessages${state}`]))
      .reduce((sum, count) => sum + count, 0);
  }

  private async deadLetterReason(name: string): Promise<string> {
    const { Messages = [] } = await this.sqs.send(
      new ReceiveMessageCommand({ QueueUrl: this.queueUrl(name), MessageAttributeNames: ['All'] }),
    );
    return `${name}: ${Messages[0]?.MessageAttributes?.Reason?.StringValue ?? 'no reason'}`;
  }
}
