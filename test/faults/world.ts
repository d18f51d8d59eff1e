import type { Environment } from '../../lib/environment/environment';
import type { Cleanup } from '../../lib/local/cleanup';
import { openTokenMaker } from '../support/api';
import { GroupStock } from '../support/group-stock';
import type { Organization } from '../support/organization';
import { startTroubledEnvironments, type TroubledEnvironments } from './environments';
import { Deletions } from './traffic/deletions';
import { Events } from './traffic/events';
import { Receiver, type Subscription } from './traffic/receivers';

/** One environment with all that goes on in it. */
export interface Place {
  readonly name: string;
  readonly groups: GroupStock;
  readonly deletions: Deletions;
  readonly events: Events;
  readonly outputs: Readonly<Record<string, string>>;
}

/** What faults are made in. */
export interface World {
  readonly places: readonly Place[];
  readonly environments: TroubledEnvironments;
  /** May misbehave; every webhook of an environment but one is here. */
  readonly fickle: Receiver;
}

export interface WorldOptions {
  readonly environments: readonly Environment[];
  readonly random: () => number;
  readonly onViolation: (violation: string) => void;
}

/** Groups that wait to be deleted, in each environment. */
export const stockSize = 600;
/** A second, in each environment. */
const rates = { deletions: 5, events: 1 };
/**
 * Seconds until a message is seen again whose function was killed, or whose reader was gone. The template has six times
 * the functions' timeouts of 45 and 75 s, for which a run of ten minutes does not wait.
 */
export const visibilityTimeout = 30;

/** Starts the environments and, in each, an organization with two webhooks; nothing goes on there yet. */
export async function startWorld(cleanup: Cleanup, options: WorldOptions): Promise<World> {
  const { random, onViolation } = options;
  const environments = await startTroubledEnvironments(options.environments, cleanup);
  const [steady, fickle] = await Promise.all([
    Receiver.start(random, onViolation),
    Receiver.start(random, onViolation),
  ]);
  cleanup.add(async () => void (await Promise.all([steady.stop(), fickle.stop()])));
  const places = await Promise.all(
    options.environments.map((environment) =>
      openPlace({ ...options, environment, environments, receivers: [steady, fickle] }),
    ),
  );
  cleanup.add(async () => {
    for (const { events } of places) events.close();
  });
  return { places, environments, fickle };
}

async function openPlace(
  options: Omit<WorldOptions, 'environments'> & {
    readonly environment: Environment;
    readonly environments: TroubledEnvironments;
    readonly receivers: readonly Receiver[];
  },
): Promise<Place> {
  const { environment, environments, receivers, random, onViolation } = options;
  const { local } = environments;
  const { name, region, tokenIssuer } = environment;
  const outputs = local.outputs(name);
  const organization = await local.walletJson<Organization>(name, 'seed');
  const tokens = await openTokenMaker(local, name, tokenIssuer);
  const groups = new GroupStock(local.stateDirectory, name, organization);
  await groups.fill(stockSize);

  const { organizationId } = organization;
  const subscribers = [];
  for (const [index, receiver] of receivers.entries()) {
    const path = `${name}-${index}`;
    const added = ['webhook', 'add', '--organization', organizationId, '--url', receiver.urlOf(path)];
    const subscription = await local.walletJson<Subscription>(name, ...added);
    receiver.subscribe(path, subscription);
    subscribers.push({ receiver, name: path, webhookId: subscription.webhookId });
  }
  const events = new Events({
    environment: name,
    organizationId,
    region,
    endpoint: local.endpoints.sqs ?? '',
    queueUrl: outputs.WebhookEventsQueueUrl ?? '',
    subscribers,
    rate: rates.events,
  });
  for (const output of ['WebhookEventsQueueUrl', 'WebhookDeliveryQueueUrl']) {
    await events.setVisibilityTimeout(outputs[output] ?? '', visibilityTimeout);
  }
  const deletions = new Deletions({
    environment: name,
    baseUrl: outputs.ApiBaseUrl ?? '',
    tokens,
    groups,
    random,
    rate: rates.deletions,
    onViolation,
  });
  return { name, groups, deletions, events, outputs };
}
