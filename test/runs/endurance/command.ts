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
import { formatTable, longRun } from '../long-run';
import { Checks } from './checks';
import { type Deletions, openDeletions, type Query } from './deletions';
import { type Fault, faults, startKillable } from './faults';

/** Deletions a second, in each environment. */
const rate = 3;
/** Seconds after a fault in which deletions must work again. */
const recoversWithin = 10;

const command = new Command('npm run endurance --')
  .description(
    'Sends deletions to local environments, half of the time with injected faults, and checks every response, group and user action. Deliveries with faults: npm run simulate.',
  )
  .addOption(duration('--duration <duration>', 'length of the run', { usual: '10m', most: '6h' }));

void longRun<{ duration: number }>(command, async ({ duration: seconds }, harness) => {
  const { signal, cleanup, progress } = harness;
  const local = await startEnvironments(harness, { runtime: startKillable });
  const checks = new Checks();
  const all: Deletions[] = [];
  for (const environment of oneOfEachAccess) all.push(await openIn(environment, seconds, local));
  const each = <T>(work: (deletions: Deletions) => T) => Promise.all(all.map(work));

  progress('Warming up');
  await each((deletions) => deletions.disturb());
  // Functions start.
  await each((deletions) => recover(deletions, 60, signal));
  const sending: Promise<unknown>[] = [];
  const timer = setInterval(() => sending.push(each((deletions) => deletions.sendNext())), 1_000 / rate);
  cleanup.add(() => clearInterval(timer));

  progress('Without faults');
  await sleep(seconds * 500, undefined, { signal });

  progress('With faults');
  const rows: Readonly<Record<string, string | number>>[] = [];
  const first = Math.floor(Math.random() * faults.length);
  for (const deadline = Date.now() + seconds * 500; Date.now() < deadline; ) {
    const fault = faults[(first + rows.length) % faults.length] as Fault;
    await each((deletions) => deletions.disturb());
    const lasted = 1 + Math.random() * 7;
    const end = fault.begin(local.postgres);
    await sleep(lasted * 1_000, undefined, { signal }).finally(end);
    const recoveries = await each((deletions) => recover(deletions, recoversWithin, signal));
    const recovery = Math.max(...recoveries);
    const row = { fault: fault.name, seconds: lasted.toFixed(1), recovery };
    checks.hold('deletions recover in time', recovery <= recoversWithin, JSON.stringify(row));
    rows.push(row);
    progress(Object.values(row).join(', '));
  }
  // Everything works again.
  await sleep(2_000, undefined, { signal });
  clearInterval(timer);
  await Promise.all(sending);

  await each((deletions) => deletions.check(checks));
  const failed = checks.violations.length > 0;
  if (failed) {
    const logs = await mkdtemp(join(tmpdir(), 'wallet-endurance-logs-'));
    await cp(join(local.stateDirectory, 'logs'), logs, { recursive: true });
    progress(`Logs: ${logs}`);
  }
  return { report: `${formatTable(rows)}\n\n${checks.format()}`, failed };
});

async function openIn({ name, tokenIssuer }: Environment, seconds: number, local: LocalEnvironment) {
  const query: Query = async (text, values) => {
    const { client, close } = await openLocalDatabase(local.stateDirectory, name);
    const { rows } = await client.query(text, [...values]).finally(close);
    return rows;
  };
  const organization = await local.walletJson<Organization>(name, 'seed');
  const tokens = await openTokenMaker(local, name, tokenIssuer);
  const url = local.outputs(name).ApiBaseUrl ?? '';
  // More than enough: recoveries use some, too.
  return openDeletions(url, organization, tokens, query, rate * (2 * seconds + 300));
}

/** Waits until deletions succeed, at most twice as long as they may take. @returns the seconds that it took */
async function recover(deletions: Deletions, within: number, signal: AbortSignal): Promise<number> {
  const began = Date.now();
  const took = () => (Date.now() - began) / 1_000;
  while (!(await deletions.succeeds()) && took() < 2 * within) await sleep(100, undefined, { signal });
  return took();
}
