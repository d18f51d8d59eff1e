import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '../../../lib/environment/schema';
import type { Postgres } from '../../../local/postgres/postgres';
import { openTokenMaker } from '../../support/api';
import type { Organization } from '../../support/organization';
import { openLocalDatabase } from '../../support/postgres';
import { oneOfEachAccess } from '../../support/rows';
import { startEnvironments } from '../environments';
import { Checks, type Harness } from '../long-run';
import { type Deletions, oneOf, openDeletions, type Query } from './deletions';
import { type Events, openEvents, visibilityTimeout } from './events';
import { type Fault, startKillable } from './faults';
import { checkDelays, checkGroups, checkResponses, checkUserActions } from './invariants';

export interface EnduranceOptions {
  /** Length of the run: half without faults, half with them. */
  readonly seconds: number;
  /** Made in this order, beginning anywhere. */
  readonly faults: readonly Fault[];
  /** Slow receivers in the first environment. */
  readonly slow: number;
}

/** A second, in each environment. */
const rates = { deletions: 5, events: 2 };
/** Seconds, from and to. */
const faultDuration = [1, 8] as const;
/** Seconds after the end of a fault, or after messages of a killed reader are visible again. */
const recoveryLimits = { deletions: 10, deliveries: 20 };
/** Seconds in which functions start, on a busy machine. */
const startLimits = { deletions: 60, deliveries: 60 };

/** An environment with its traffic. */
interface Target {
  readonly name: string;
  readonly postgres: Postgres;
  readonly deletions: Deletions;
  readonly events: Events;
}

interface Context extends Harness {
  readonly local: Awaited<ReturnType<typeof startEnvironments>>;
  readonly checks: Checks;
}

/**
 * Sends deletions and events to local environments, first without faults, then with one fault after another; in the end, checks
 * what must hold whatever happened.
 *
 * @returns what broke, and a row for each fault
 */
export async function endure({ seconds, slow, faults }: EnduranceOptions, harness: Harness) {
  const { signal, cleanup, progress } = harness;
  const local = await startEnvironments(harness, startKillable);
  const checks = new Checks();
  const context: Context = { ...harness, local, checks };
  const targets: Target[] = [];
  for (const environment of oneOfEachAccess)
    targets.push(await openTarget(environment, seconds, targets.length === 0 ? slow : 0, context));
  const eachTarget = (work: (target: Target) => unknown) => Promise.all(targets.map(work));
  /** Starts work in each environment at a steady rate. @returns a function that ends it, and waits for what it has started */
  const flow = (perSecond: number, start: (target: Target) => Promise<unknown>) => {
    const started: Promise<unknown>[] = [];
    const timer = setInterval(() => started.push(eachTarget(start)), 1_000 / perSecond);
    cleanup.add(() => clearInterval(timer));
    return () => {
      clearInterval(timer);
      return Promise.all(started);
    };
  };

  progress('Warming up');
  await eachTarget(({ deletions }) => deletions.disturb());
  const endDeletions = flow(rates.deletions, ({ deletions }) => deletions.sendNext());
  await eachTarget((target) => recover(target, startLimits, signal));

  progress('Without faults');
  const endSlowEvents = flow(rates.events, ({ events }) => events.sendToSlow());
  const endCalmEvents = flow(rates.events, ({ events }) => events.send());
  await sleep(seconds * 500, undefined, { signal });
  await endSlowEvents();
  await endCalmEvents();
  await eachTarget(({ events }) => events.endSlowness());
  await eachTarget(({ events }) => events.drain());
  const [besideSlow = [], ...others] = targets.map(({ events }) => events.healthyDelays());
  checkDelays(besideSlow, others.flat(), checks);

  progress('With faults');
  const endEvents = flow(rates.events, ({ events }) => events.send());
  const rows: Awaited<ReturnType<typeof makeFault>>[] = [];
  const first = Math.floor(Math.random() * faults.length);
  for (const deadline = Date.now() + seconds * 500; Date.now() < deadline; ) {
    const row = await makeFault(faults[(first + rows.length) % faults.length] as Fault, targets, context);
    rows.push(row);
    progress(Object.values(row).join(', '));
  }
  // Everything works again.
  await sleep(2_000, undefined, { signal });
  await endDeletions();
  await endEvents();

  progress('Waiting until every event has arrived');
  await eachTarget(({ events }) => events.drain());
  await eachTarget(async ({ deletions }) => {
    const { sent, groups, uses } = await deletions.read();
    checkResponses(sent, checks);
    checkGroups(sent, groups, checks);
    checkUserActions(sent, uses, checks);
  });
  if (checks.violations.length > 0) {
    const logs = await mkdtemp(join(tmpdir(), 'wallet-endurance-logs-'));
    await cp(join(local.stateDirectory, 'logs'), logs, { recursive: true });
    progress(`Logs: ${logs}`);
  }
  return { checks, rows };
}

async function openTarget(
  { name, tokenIssuer }: Environment,
  seconds: number,
  slow: number,
  context: Context,
): Promise<Target> {
  const { local } = context;
  const query: Query = async (text, values) => {
    const { client, close } = await openLocalDatabase(local.stateDirectory, name);
    const result = client.query(text, [...values]).finally(close);
    return (await result).rows;
  };
  const organization = await local.walletJson<Organization>(name, 'seed');
  const tokens = await openTokenMaker(local, name, tokenIssuer);
  // More than enough: recoveries use some, too.
  const count = rates.deletions * (2 * seconds + 300);
  const deletions = await openDeletions(
    local.outputs(name).ApiBaseUrl ?? '',
    organization,
    tokens,
    query,
    count,
  );
  const events = await openEvents(local, name, organization.organizationId, slow, context);
  return { name, postgres: local.postgres[name] as Postgres, deletions, events };
}

/** Makes a fault in one environment or all, and waits until they recover. */
async function makeFault(fault: Fault, targets: readonly Target[], context: Context) {
  const { local, checks, signal } = context;
  const one = oneOf(targets);
  const reached = fault.reach === 'all' ? targets : [one];
  const [shortest, longest] = faultDuration;
  const seconds = shortest + Math.random() * (longest - shortest);
  if (fault.affectsDeletions) for (const { deletions } of reached) deletions.disturb();
  const end = await fault.begin({
    ...{ postgres: one.postgres, queuesPort: Number(new URL(local.endpoints.sqs ?? '').port) },
    failReceivers(isFailing) {
      for (const { events } of targets) events.failReceivers(isFailing);
    },
  });
  await sleep(seconds * 1_000, undefined, { signal }).finally(end);
  const limits = { ...recoveryLimits };
  if (fault.losesReaders) limits.deliveries += 2 * visibilityTimeout;
  const recoveries = await Promise.all(reached.map((target) => recover(target, limits, signal)));
  const slowest = (what: keyof typeof limits) => {
    const took = Math.max(...recoveries.map((each) => each[what]));
    checks.hold(`${what} recover in time`, took > limits[what] && `after ${fault.name}: ${took} s`);
    return took.toFixed(1);
  };
  return {
    fault: fault.name,
    in: reached.map(({ name }) => name).join(' '),
    'for, s': seconds.toFixed(1),
    'deletions after, s': slowest('deletions'),
    'deliveries after, s': slowest('deliveries'),
  };
}

/** Waits until a target deletes and delivers, at most twice as long as these seconds. @returns the seconds that it took */
async function recover({ deletions, events }: Target, limits: typeof recoveryLimits, signal: AbortSignal) {
  const began = Date.now();
  const took = () => (Date.now() - began) / 1_000;
  const recovery = async (limit: number, isDone: () => boolean | Promise<boolean>) => {
    while (!(await isDone()) && took() < 2 * limit) await sleep(100, undefined, { signal });
    return took();
  };
  const eventId = await events.send();
  const [deletionsTook, deliveriesTook] = await Promise.all([
    recovery(limits.deletions, () => deletions.succeeds()),
    recovery(limits.deliveries, () => events.hasArrived(eventId)),
  ]);
  return { deletions: deletionsTook, deliveries: deliveriesTook };
}
