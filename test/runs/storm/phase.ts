import { secretText } from '../../../domain/webhook-secrets';
import { sql } from '../../../lambda/database/sql';
import { addOrganization, addWebhook } from '../../support/webhooks';
import type { Subscription } from '../world/ledger';
import { countMessages, drain } from '../world/queues';
import type { ReceiverKind } from './behaviour';
import type { Killer } from './killer';
import { publish } from './publisher';
import type { StormSettings } from './settings';
import type { World } from './world';

export type PhaseName = 'warm-up' | 'calm' | 'storm';

export interface StormSubscription extends Subscription {
  readonly kind: ReceiverKind;
  /** Of the events that it wants. */
  readonly eventKind: string;
}

export interface Phase {
  readonly name: PhaseName;
  readonly subscriptions: readonly StormSubscription[];
  readonly events: readonly { readonly id: string; readonly kind: string }[];
  /** Events a second. */
  readonly rate: number;
  /** Messages on the queues at its end. */
  readonly left: number;
  /** Deliveries in invocations that came to no answer: they come again, hidden until then, and older by that. */
  readonly lost: number;
  /** Milliseconds. */
  readonly duration: number;
}

export interface PhaseOptions {
  readonly settings: StormSettings;
  readonly name: PhaseName;
  readonly events: number;
  readonly rate: number;
  readonly killers: readonly Killer[];
  readonly progress: ((line: string) => void) | undefined;
}

/** The kind of an event, and of the receivers that want it, when there are so many kinds. */
const kindOf = (index: number, kinds: number): string => `storm.${index % kinds}`;

/** Sends events to a new organization, and waits until the queues are empty. */
export async function runPhase(world: World, options: PhaseOptions): Promise<Phase> {
  const { settings, name, rate, killers, progress } = options;
  const kinds = Math.ceil(settings.receivers / settings.wanted);
  const organizationId = await addOrganization(world.owner);
  const isThere = (kind: ReceiverKind) => name === 'storm' || kind === 'healthy';
  const subscriptions = await subscribe(world, { organizationId, kinds, isThere });
  const events = Array.from({ length: options.events }, (_, index) => ({
    id: `${organizationId.slice(3, 14)}-${index}`,
    organizationId,
    kind: kindOf(index, kinds),
  }));

  const began = Date.now();
  const lostBefore = world.deliver.lost.messages;
  const urls = queueUrls(world);
  const stopTelling = tellOfMessages(world, name, progress);
  try {
    for (const killer of killers) killer.start();
    await publish(world.sqs, world.events.queue.url, events, rate);
    // A message that is left alone with a killer would be its only victim, again and again.
    for (const killer of killers) killer.stop();
    const left = await drain(world.sqs, urls, settings.patience);
    const lost = world.deliver.lost.messages - lostBefore;
    return { name, subscriptions, events, rate, left, lost, duration: Date.now() - began };
  } finally {
    stopTelling();
  }
}

const queueUrls = ({ events, deliveries, retries }: World) =>
  [events, deliveries, retries].map(({ queue }) => queue.url);

/** Tells of the messages on the queues every ten seconds, until the function that it returns is called. */
function tellOfMessages(world: World, name: PhaseName, progress: PhaseOptions['progress']): () => void {
  const began = Date.now();
  const timer = setInterval(async () => {
    const left = await countMessages(world.sqs, queueUrls(world)).catch(() => Number.NaN);
    progress?.(`${name}, ${Math.round((Date.now() - began) / 1_000)} s: ${left} messages on the queues`);
  }, 10_000);
  return () => clearInterval(timer);
}

/** Adds a webhook for each of the receivers that are there. */
async function subscribe(
  { owner, receivers, secrets }: World,
  options: {
    readonly organizationId: string;
    readonly kinds: number;
    readonly isThere: (kind: ReceiverKind) => boolean;
  },
): Promise<readonly StormSubscription[]> {
  const { organizationId, kinds, isThere } = options;
  const subscriptions: StormSubscription[] = [];
  for (const [index, { kind, port }] of receivers.all.entries()) {
    if (!isThere(kind)) continue;
    const eventKind = kindOf(index, kinds);
    const webhookId = await addWebhook(owner, organizationId, { kinds: [eventKind] });
    // The receiver tells its webhooks apart by the path.
    await owner.execute(sql`
      update webhooks set url = ${`http://127.0.0.1:${port}/${webhookId}`} where webhook_id = ${webhookId}`);
    const secret = await secrets.secret(webhookId, 1);
    if (!secret.ok) throw new Error(secret.error.reason);
    subscriptions.push({ webhookId, organizationId, kind, eventKind, secret: secretText(secret.value) });
  }
  receivers.subscribe(subscriptions);
  return subscriptions;
}
