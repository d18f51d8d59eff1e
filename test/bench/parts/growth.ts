import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { toQuery } from '../../../lambda/database/direct';
import { deletionStatement } from '../../../lambda/delete-user-group/delete-in-database';
import { Cleanup } from '../../../lib/local/cleanup';
import { executedPlans, sequentialScans } from '../../support/executed-plans';
import { type Check, compare, type Figure, type PartOptions, type PartResult, samplesFor } from '../figures';
import { addPeople, callerId, fillRegion, organizationId, setMembers, userGroupId } from '../fill';
import { interleave, time } from '../interleave';
import { startRegion } from '../region';

const groupCounts = [1_000, 10_000, 100_000, 1_000_000] as const;
const memberCounts = [10, 1_000, 100_000] as const;

/** Groups of one organization: as it may be, and the most that can be. */
const distributions = [
  { name: '1,000 an organization', groupsPerOrganization: 1_000 },
  { name: 'one organization', groupsPerOrganization: 10_000_000 },
] as const;

/**
 * How the deletion's time grows with what there is. The product's statement goes to PostgreSQL without any path between,
 * and commits do not wait for the disk: both would only hide growth.
 */
export async function measureGrowth(options: PartOptions): Promise<PartResult> {
  const figures: Figure[] = [];
  const checks: Check[] = [];
  for (const distribution of distributions) {
    const { figures: ofGroups, checks: ofPlans } = await measureGroups(distribution, options);
    figures.push(...ofGroups);
    checks.push(...ofPlans);
  }
  return { figures: [...figures, ...(await measureMembers(options))], checks };
}

async function measureGroups(
  { name, groupsPerOrganization }: (typeof distributions)[number],
  options: PartOptions,
): Promise<Required<PartResult>> {
  const cleanup = new Cleanup();
  const rounds = {
    samples: samplesFor(options, 300),
    warmUp: samplesFor(options, 100),
    signal: options.signal,
  };
  // Deleted ones are extra, so that the last deletion meets as many groups as the name says.
  const spare = rounds.samples + rounds.warmUp + 1;
  try {
    const clients = new Map<number, Client>();
    for (const count of groupCounts) {
      options.onProgress(`${name}: filling with ${count} groups`);
      const { client } = await startRegion(cleanup, 'direct', { durable: false, signal: options.signal });
      await fillRegion(client, { groups: count + spare, groupsPerOrganization });
      clients.set(count, client);
    }
    const deleteFrom = (count: number) => {
      let next = 0;
      return () => {
        // A stride that has no divisor in common with any of the counts: groups from everywhere, none twice.
        const group = (next * 7_919) % (count + spare);
        next += 1;
        return deleteGroup(clients.get(count) as Client, Math.floor(group / groupsPerOrganization), group);
      };
    };
    const variants = Object.fromEntries(groupCounts.map((count) => [count, deleteFrom(count)]));
    options.onProgress(`${name}: ${rounds.samples} rounds`);
    const taken = await interleave(variants, rounds);
    const [smallest, ...larger] = groupCounts;
    const figures = larger.map((count) =>
      compare(
        {
          what: `${format(count)} groups, ${name}`,
          against: `${format(smallest)} groups`,
          unit: 'ms',
          goal: { bound: 'at most', ratio: 1.3 },
        },
        taken[count] ?? [],
        taken[smallest] ?? [],
      ),
    );
    const largest = groupCounts[groupCounts.length - 1] as number;
    return { figures, checks: [await checkPlans(clients.get(largest) as Client, name, variants[largest])] };
  } finally {
    await cleanup.run();
  }
}

async function checkPlans(
  client: Client,
  name: string,
  deleteOne: (() => Promise<unknown>) | undefined,
): Promise<Check> {
  const plans = await executedPlans(client, async () => deleteOne?.());
  const scanned = plans.flatMap(sequentialScans);
  return {
    what: `no sequential scan among ${format(1_000_000)} groups, ${name}`,
    holds: plans.length > 0 && scanned.length === 0,
    detail:
      scanned.length > 0
        ? `${scanned.join(', ')}`
        : `${plans.length} plans, those of the cascading deletions included`,
  };
}

async function measureMembers(options: PartOptions): Promise<Figure[]> {
  const cleanup = new Cleanup();
  const rounds = { samples: samplesFor(options, 15), warmUp: 2, signal: options.signal };
  try {
    options.onProgress(`members: filling, ${rounds.samples} rounds`);
    const { client } = await startRegion(cleanup, 'direct', { durable: false, signal: options.signal });
    const groups = memberCounts.length * (rounds.samples + rounds.warmUp);
    await fillRegion(client, { groups, groupsPerOrganization: 10_000 });
    await addPeople(client, Math.max(...memberCounts));
    let next = 0;
    const deleteWith = (members: number) => async () => {
      const group = next;
      next += 1;
      await setMembers(client, group, members);
      return deleteGroup(client, 0, group);
    };
    const taken = await interleave(
      Object.fromEntries(memberCounts.map((count) => [count, deleteWith(count)])),
      rounds,
    );
    const [few, some, many] = memberCounts;
    const perThousand = (count: number) => (taken[count] ?? []).map((sample) => (1_000 * sample) / count);
    return [
      compare(
        {
          what: `1,000 of ${format(many)} members`,
          against: `1,000 of ${format(some)} members`,
          unit: 'ms',
          goal: { bound: 'at most', ratio: 1.3 },
        },
        perThousand(many),
        perThousand(some),
      ),
      compare(
        {
          what: `group of ${format(many)} members`,
          against: 'one second',
          unit: 'ms',
          goal: { bound: 'at most', ratio: 1 },
        },
        taken[many] ?? [],
        [1_000],
      ),
      compare(
        { what: `group of ${format(some)} members`, against: `group of ${format(few)} members`, unit: 'ms' },
        taken[some] ?? [],
        taken[few] ?? [],
      ),
    ];
  } finally {
    await cleanup.run();
  }
}

/** Milliseconds of one deletion. @throws Error when it comes to anything else */
async function deleteGroup(client: Client, organization: number, group: number): Promise<number> {
  const statement = deletionStatement({
    caller: {
      identityId: callerId(organization),
      organizationId: organizationId(organization),
      kind: 'CustomerEmployee',
    },
    userGroupId: userGroupId(group),
    userAction: { id: randomUUID(), expiresAt: Date.now() / 1_000 + 300 },
    requestId: randomUUID(),
  });
  let outcome: unknown;
  const duration = await time(async () => {
    const { rows } = await client.query(toQuery(statement));
    outcome = rows[0]?.outcome;
  });
  if (outcome !== 'deleted') throw new Error(`Group ${group} of ${organization}: ${outcome}`);
  return duration;
}

const format = (count: number) => count.toLocaleString('en');
