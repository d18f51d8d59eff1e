import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Environment } from '../../../lib/environment';
import type { Cleanup } from '../../../local/cleanup';
import type { Postgres } from '../../../local/postgres/postgres';
import { openTokenMaker } from '../../support/api';
import type { Organization } from '../../support/organization';
import { oneOfEachAccess } from '../../support/rows';
import { startEnvironments, type TemporaryEnvironments } from '../environments';
import { Checks, type Harness, oneOf, temporaryFolder } from '../long-run';
import { Deletions, type Query } from './deletions';
import { Events, visibilityTimeout } from './events';
import type { Fault } from './faults';
import { Functions } from './functions';
import {
  checkDelays,
  checkGroups,
  checkMemory,
  checkResponses,
  checkUserActions,
  type MemorySample,
} from './invariants';

export interface EnduranceOptions extends Harness {
  /** Milliseconds: half without faults, half with them. */
  readonly duration: number;
  /** Made in this order, beginning anywhere. */
  readonly faults: readonly Fault[];
  /** Slow receivers in the first environment. */
  readonly slow: number;
}

/** A second, in each environment. */
const rates = { deletions: 5, events: 2 };
/** Groups for deletions, enough until the slowest recovery. */
const stock = 100 * rates.deletions;
/** Milliseconds after the end of a fault, or after messages of a killed reader are visible again. */
const recoveryLimits = { deletions: 10_000, deliveries: 20_000 };

/** Milliseconds in which functions start, on a busy machine. */
const patience = 60_000;

interface Context {
  readonly local: TemporaryEnvironments;
  readonly functions: Functions;
  readonly checks: Checks;
  readonly signal: AbortSignal;
}

/** An environment with its traffic. */
interface Target {
  readonly name: string;
  readonly postgres: Postgres;
  connect(): Promise<Client>;
  readonly deletions: Deletions;
  readonly events: Events;
}

/**
 * Sends deletions and events to local environments, first without faults, then with one fault after another; in the end, checks
 * what must hold whatever happened.
 *
 * @returns what broke, and a row for each fault
 */
export async function endure(options: EnduranceOptions, cleanup: Cleanup) {
  const { duration, slow, signal, progress } = options;
  const checks = new Checks();
  const functions = new Functions(await temporaryFolder(cleanup));
  const names = oneOfEachAccess.map(({ name }) => name);
  const local = await startEnvironments(cleanup, names, { signal, runtime: functions.runtime });
  const targets: Target[] = [];
  for (const environment of oneOfEachAccess)
    targets.push(await openTarget(local, environment, targets.length === 0 ? slow : 0, cleanup, checks));
  const eachTarget = (work: (target: Target) => unknown) => Promise.all(targets.map(work));
  const startFlows = (work: 'deletions' | 'events' | 'slow events') =>
    targets.map(({ deletions, events }) =>
      work === 'deletions'
        ? flow(rates.deletions, deletions.sendNext, cleanup)
        : flow(rates.events, work === 'events' ? events.send : events.sendToSlow, cleanup),
    );
  const end = (flows: readonly (() => Promise<unknown>)[]) => Promise.all(flows.map((each) => each()));

  progress('Warming up');
  await eachTarget(({ deletions }) => deletions.disturb());
  const deletions = startFlows('deletions');
  await eachTarget(async ({ deletions, events }) => {
    const eventId = await events.send();
    await until(() => events.hasArrived(eventId), patience, signal);
    await until(() => deletions.succeeds(), patience, signal);
  });

  progress('Without faults');
  const began = Date.now();
  const calmEvents = [...startFlows('events'), ...startFlows('slow events')];
  const memory: MemorySample[] = [];
  while (Date.now() < began + duration / 2) {
    await sleep(Math.min(5_000, duration / 4), undefined, { signal });
    memory.push(...(await functions.sampleMemory()));
    await eachTarget((target) => target.deletions.prepare(stock));
  }
  await end(calmEvents);
  await eachTarget(({ events }) => events.endSlowness());
  await eachTarget(({ events }) => events.drain(signal));
  await eachTarget(({ events }) => events.checkAttempts());
  const [besideSlow = [], ...others] = targets.map(({ events }) => events.healthyDelays(began));
  checkDelays(besideSlow, others.flat(), checks);

  progress('With faults');
  const events = startFlows('events');
  const rows: Awaited<ReturnType<typeof makeFault>>[] = [];
  const first = Math.floor(Math.random() * options.faults.length);
  for (const deadline = Date.now() + duration / 2; Date.now() < deadline; ) {
    const fault = options.faults[(first + rows.length) % options.faults.length] as Fault;
    const row = await makeFault(fault, targets, { local, functions, checks, signal });
    rows.push(row);
    progress(Object.values(row).join(', '));
  }
  // Everything works again.
  await sleep(2_000, undefined, { signal });
  await end([...deletions, ...events]);

  progress('Waiting until every event has arrived');
  await eachTarget(({ events }) => events.drain(signal));
  for (const target of targets) {
    const { sent } = target.deletions;
    checkResponses(sent, checks);
    checkGroups(sent, await target.deletions.readGroups(), checks);
    checkUserActions(sent, await target.deletions.readUses(), checks);
    await target.events.check();
  }
  checkMemory(memory, checks);
  if (checks.violations.length > 0) {
    const logs = await mkdtemp(join(tmpdir(), 'wallet-endurance-logs-'));
    await cp(join(local.stateDirectory, 'logs'), logs, { recursive: true });
    progress(`Logs: ${logs}`);
  }
  return { checks, faults: rows };
}

async function openTarget(
  local: TemporaryEnvironments,
  { name, tokenIssuer }: Environment,
  slow: number,
  cleanup: Cleanup,
  checks: Checks,
): Promise<Target> {
  const postgres = local.postgres[name] as Postgres;
  const connect = async () => {
    const { host, port, superuser: user, password } = postgres;
    const client = new Client({ host, port, user, password, database: 'wallet' });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };
  const query: Query = async (text, values) => {
    const client = await connect();
    try {
      return (await client.query(text, [...values])).rows;
    } finally {
      await client.end();
    }
  };
  const organization = await local.walletJson<Organization>(name, 'seed');
  const tokens = await openTokenMaker(local, name, tokenIssuer);
  const deletions = new Deletions(local.outputs(name).ApiBaseUrl ?? '', organization, tokens, query);
  await deletions.prepare(stock);
  const events = new Events(local, name, organization.organizationId, query, checks);
  await events.open(cleanup, slow);
  return { name, postgres, connect, deletions, events };
}

/** Starts something at a steady rate. @returns a function that ends it, and waits for what it has started */
function flow(perSecond: number, start: () => Promise<unknown>, cleanup: Cleanup): () => Promise<unknown> {
  const started: Promise<unknown>[] = [];
  const timer = setInterval(() => started.push(start()), 1_000 / perSecond);
  cleanup.add(() => clearInterval(timer));
  return () => {
    clearInterval(timer);
    return Promise.all(started);
  };
}

/** Makes a fault in one environment or all, and waits until they recover. */
async function makeFault(fault: Fault, targets: readonly Target[], context: Context) {
  const one = oneOf(targets);
  const reached = fault.reach === 'all' ? targets : [one];
  const [shortest, longest] = fault.lasts;
  const milliseconds = shortest + Math.random() * (longest - shortest);
  await Promise.all(reached.map(({ deletions }) => deletions.prepare(stock)));
  if (fault.affectsDeletions) for (const { deletions } of reached) deletions.disturb();
  const end = await fault.begin({
    ...{ postgres: one.postgres, connect: one.connect, functions: context.functions },
    events: targets.map(({ events }) => events),
    queuesPort: Number(new URL(context.local.endpoints.sqs ?? '').port),
  });
  try {
    await sleep(milliseconds, undefined, { signal: context.signal });
  } finally {
    await end();
  }
  const recovered = await Promise.all(reached.map((target) => recover(target, fault, context)));
  const slowest = (what: keyof typeof recoveryLimits) =>
    (Math.max(...recovered.map((each) => each[what])) / 1_000).toFixed(1);
  return {
    fault: fault.name,
    in: reached.map(({ name }) => name).join(' '),
    'for, s': (milliseconds / 1_000).toFixed(1),
    'deletions after, s': slowest('deletions'),
    'deliveries after, s': slowest('deliveries'),
  };
}

/** Waits until a target deletes and delivers again. @returns milliseconds since the fault ended */
async function recover(
  { name, deletions, events }: Target,
  fault: Fault,
  { checks, signal }: Pick<Context, 'checks' | 'signal'>,
) {
  const endedAt = Date.now();
  const recovery = async (what: string, limit: number, isDone: () => boolean | Promise<boolean>) => {
    await until(isDone, 2 * limit, signal);
    const took = Date.now() - endedAt;
    checks.hold(`${what} recover in time`, took > limit && `${name} after ${fault.name}: ${took} ms`);
    return took;
  };
  const readers = fault.losesReaders ? 2 * visibilityTimeout * 1_000 : 0;
  const eventId = await events.send();
  const [deletionsTook, deliveriesTook] = await Promise.all([
    recovery('deletions', recoveryLimits.deletions, () => deletions.succeeds()),
    recovery('deliveries', recoveryLimits.deliveries + readers, () => events.hasArrived(eventId)),
  ]);
  return { deletions: deletionsTook, deliveries: deliveriesTook };
}

/** Repeats until `isDone`, or for these milliseconds. */
async function until(isDone: () => boolean | Promise<boolean>, milliseconds: number, signal: AbortSignal) {
  const deadline = Date.now() + milliseconds;
  while (!(await isDone()) && Date.now() < deadline) await sleep(100, undefined, { signal });
}
