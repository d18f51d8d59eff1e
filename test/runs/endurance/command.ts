import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { duration } from '../../../cli/shell/options';
import type { Environment } from '../../../lib/environment/schema';
import { openTokenMaker } from '../../support/api';
import type { LocalEnvironment } from '../../support/local-environment';
import type { Organization } from '../../support/organization';
import { openLocalDatabase } from '../../support/postgres';
import { oneOfEachAccess } from '../../support/rows';
import { startEnvironments } from '../environments';
import { formatTable, type Harness, longRun } from '../long-run';
import { Checks } from './checks';
import { type Deletions, openDeletions, type Query } from './deletions';
import { type Events, openEvents } from './events';
import { type Fault, faults, startKillable } from './faults';

/** Deletions and events a second, in each environment. */
const rate = 3;
/** Seconds after a fault in which deletions must work again. */
const deletionsWithin = 10;

const command = new Command('npm run endurance --')
  .description(
    'Sends deletions and events to local environments, half of the time with injected faults, and checks every response, group, user action and delivery.',
  )
  .addOption(duration('--duration <duration>', 'length of the run', { usual: '10m', most: '6h' }));

void longRun<{ duration: number }>(command, async ({ duration: seconds }, harness) => {
  const { signal, cleanup, progress } = harness;
  const local = await startEnvironments(harness, { runtime: startKillable });
  const checks = new Checks();
  const traffic: EnvironmentTraffic[] = [];
  for (const environment of oneOfEachAccess)
    traffic.push(await openTraffic(environment, seconds, local, { ...harness, checks }));
  const eachEnvironment = <T>(work: (each: EnvironmentTraffic) => T) => Promise.all(traffic.map(work));

  progress('Warming up');
  await eachEnvironment(({ deletions }) => deletions.disturb());
  // Functions start.
  await eachEnvironment((each) => recover(each, 60, signal));
  const sending: Promise<unknown>[] = [];
  const send = ({ deletions, events }: EnvironmentTraffic) =>
    Promise.all([deletions.sendNext(), events.send()]);
  const timer = setInterval(() => sending.push(eachEnvironment(send)), 1_000 / rate);
  cleanup.add(() => clearInterval(timer));

  progress('Without faults');
  await sleep(seconds * 500, undefined, { signal });

  progress('With faults');
  const rows: Readonly<Record<string, string | number>>[] = [];
  const first = Math.floor(Math.random() * faults.length);
  for (const deadline = Date.now() + seconds * 500; Date.now() < deadline; ) {
    const fault = faults[(first + rows.length) % faults.length] as Fault;
    await eachEnvironment(({ deletions }) => deletions.disturb());
    const lasted = 1 + Math.random() * 7;
    const end = fault.begin(local.postgres);
    await sleep(lasted * 1_000, undefined, { signal }).finally(end);
    const recoveries = await eachEnvironment((each) => recover(each, fault.deliveriesWithin, signal));
    const [deletions, deliveries] = (['deletions', 'deliveries'] as const).map((what) =>
      Math.max(...recoveries.map((each) => each[what])),
    ) as [number, number];
    const row = { fault: fault.name, seconds: lasted.toFixed(1), deletions, deliveries };
    checks.hold('deletions recover in time', deletions <= deletionsWithin, JSON.stringify(row));
    checks.hold('deliveries recover in time', deliveries <= fault.deliveriesWithin, JSON.stringify(row));
    rows.push(row);
    progress(Object.values(row).join(', '));
  }
  // Everything works again.
  await sleep(2_000, undefined, { signal });
  clearInterval(timer);
  await Promise.all(sending);

  progress('Waiting until every event has arrived');
  await eachEnvironment(({ events }) => events.drain());
  await eachEnvironment(({ deletions }) => deletions.check(checks));
  const failed = checks.violations.length > 0;
  if (failed) {
    const logs = await mkdtemp(join(tmpdir(), 'wallet-endurance-logs-'));
    await cp(join(local.stateDirectory, 'logs'), logs, { recursive: true });
    progress(`Logs: ${logs}`);
  }
  return { report: `${formatTable(rows)}\n\n${checks.format()}`, failed };
});

/** An environment's traffic. */
interface EnvironmentTraffic {
  readonly deletions: Deletions;
  readonly events: Events;
}

async function openTraffic(
  { name, tokenIssuer }: Environment,
  seconds: number,
  local: LocalEnvironment,
  context: Harness & { readonly checks: Checks },
): Promise<EnvironmentTraffic> {
  const query: Query = async (text, values) => {
    const { client, close } = await openLocalDatabase(local.stateDirectory, name);
    const { rows } = await client.query(text, [...values]).finally(close);
    return rows;
  };
  const organization = await local.walletJson<Organization>(name, 'seed');
  const tokens = await openTokenMaker(local, name, tokenIssuer);
  const url = local.outputs(name).ApiBaseUrl ?? '';
  // More than enough: recoveries use some, too.
  const count = rate * (2 * seconds + 300);
  return {
    deletions: await openDeletions(url, organization, tokens, query, count),
    events: await openEvents(local, name, organization.organizationId, context),
  };
}

/** Waits until an environment deletes and delivers, at most twice as long as they may take. @returns the seconds that each took */
async function recover(
  { deletions, events }: EnvironmentTraffic,
  deliveriesWithin: number,
  signal: AbortSignal,
) {
  const began = Date.now();
  const took = () => (Date.now() - began) / 1_000;
  const recovery = async (isDone: () => boolean | Promise<boolean>) => {
    while (!(await isDone()) && took() < 2 * Math.max(deletionsWithin, deliveriesWithin))
      await sleep(100, undefined, { signal });
    return took();
  };
  const eventId = await events.send();
  const [deletionsTook, deliveriesTook] = await Promise.all([
    recovery(() => deletions.succeeds()),
    recovery(() => events.hasArrived(eventId)),
  ]);
  return { deletions: deletionsTook, deliveries: deliveriesTook };
}
