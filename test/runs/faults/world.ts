import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import type { Environment } from '../../../lib/environment';
import type { Cleanup } from '../../../local/cleanup';
import { commandLine } from '../../../local/processes';
import type { LocalEnvironment } from '../../support/local-environment';
import { oneOf } from '../harness/random';
import { startTemporaryEnvironments } from '../world/environments';
import { Ledger, type Subscription } from '../world/ledger';
import { openPlace, type Place } from '../world/place';
import { createSqs } from '../world/queues';
import { type Reaction, startReceiver } from '../world/receiver';
import { Deletions, type DeletionsOptions } from './deletions';
import { Events } from './events';

/** One environment with all that goes on in it. */
export interface TroubledPlace extends Place {
  readonly deletions: Deletions;
  readonly events: Events;
}

/** What faults are made in. */
export interface World {
  readonly places: readonly TroubledPlace[];
  readonly local: LocalEnvironment;
  /** The folder whose files the preloaded script obeys. */
  readonly control: string;
  /** The folders of databases that have their own small file system, by environment. */
  readonly disks: ReadonlyMap<string, string>;
  /** Why not every database has one; undefined when they have. */
  readonly noDisks: string | undefined;
  /** Ids of the functions' processes. */
  functionProcesses(): number[];
  /** One webhook of each environment is at a receiver that misbehaves when told so. */
  readonly fickle: { misbehaves: boolean };
}

export interface WorldOptions extends DeletionsOptions {
  readonly environments: readonly Environment[];
  readonly signal: AbortSignal;
}

/** Groups that wait to be deleted, in each environment. */
export const stockSize = 600;
/**
 * Seconds until a message is seen again whose function was killed, or whose reader was gone. The template has six times
 * the functions' timeouts of 45 and 75 s, for which a run of ten minutes does not wait.
 */
export const visibilityTimeout = 30;
/** MiB. The cluster is 40, its log at most 80 before it is used again, and a few tables. */
const diskSize = 256;

/** Ways to misbehave that leave a delivery undone. */
const misbehaviours: readonly Reaction[] = [
  { status: 500 },
  { status: 429, headers: { 'retry-after': '2' } },
  { status: 302, headers: { location: '/elsewhere' } },
  { status: 503, drips: true },
  'hang',
  'reset',
];

/** Starts the environments and, in each, an organization with two webhooks; nothing goes on there yet. */
export async function startWorld(cleanup: Cleanup, options: WorldOptions): Promise<World> {
  const { environments, random, signal } = options;
  const disks = new Map<string, string>();
  let noDisks: string | undefined;
  const { local, command, control } = await startTemporaryEnvironments(
    cleanup,
    environments.map(({ name }) => name),
    {
      signal,
      preload: 'faults',
      async prepare(name, folder) {
        noDisks ??= await mountDisk(cleanup, folder);
        if (noDisks === undefined) disks.set(name, folder);
      },
    },
  );
  const ledgers = new Map<string, Ledger>();
  const fickle = { misbehaves: false };
  const receivers = [
    await startReceiver(ledgers, () => ({ status: 204 })),
    await startReceiver(ledgers, () =>
      fickle.misbehaves && random() < 0.8 ? oneOf(random, misbehaviours) : { status: 204 },
    ),
  ];
  for (const { stop } of receivers) cleanup.add(stop);

  const places: TroubledPlace[] = [];
  for (const environment of environments) {
    const place = await openPlace(local, environment);
    await place.groups.fill(stockSize);
    const { name, outputs } = place;
    const { organizationId } = place.groups.organization;
    const own: Ledger[] = [];
    for (const [index, { port }] of receivers.entries()) {
      const path = `${name}-${index}`;
      const url = `http://127.0.0.1:${port}/${path}`;
      const added = ['webhook', 'add', '--organization', organizationId, '--url', url];
      const subscription = await local.walletJson<Subscription>(name, ...added);
      const ledger = new Ledger({ ...subscription, organizationId });
      ledgers.set(path, ledger);
      own.push(ledger);
    }
    const sqs = createSqs(local.endpoints.sqs, environment.region);
    const { WebhookEventsQueueUrl, WebhookDeliveryQueueUrl, WebhookRetryQueueUrl } = outputs;
    for (const QueueUrl of [WebhookEventsQueueUrl, WebhookDeliveryQueueUrl, WebhookRetryQueueUrl]) {
      const Attributes = { VisibilityTimeout: String(visibilityTimeout) };
      await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes }));
    }
    places.push({
      ...place,
      deletions: new Deletions(place, options),
      events: new Events({ environment: name, organizationId, sqs, outputs, ledgers: own }),
    });
  }
  return {
    ...{ places, local, control, disks, noDisks, fickle },
    functionProcesses: () =>
      command.processes().filter((pid) => commandLine(pid).includes('local/lambda/bootstrap.cjs')),
  };
}

/** Mounts a small file system for a database, as root on Linux can. Gives the reason when it fails. */
async function mountDisk(cleanup: Cleanup, folder: string): Promise<string | undefined> {
  await mkdir(folder, { recursive: true });
  try {
    const options = ['-t', 'tmpfs', '-o', `size=${diskSize}m,mode=0700`, 'wallet-faults', folder];
    execFileSync('mount', options, { stdio: 'pipe' });
  } catch (error) {
    const reason = (error as Error).message.trim().split('\n').at(-1);
    return `no file system can be made here: ${reason}`;
  }
  cleanup.add(async () => void execFileSync('umount', [folder]));
  return undefined;
}
