import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { toQuery } from '../../../../lambda/database/direct';
import { deletionStatement } from '../../../../lambda/delete-user-group/delete-in-database';
import { Cleanup } from '../../../../local/cleanup';
import { executedPlans, sequentialScans } from '../../../support/executed-plans';
import type { Check } from '../../harness/checks';
import { startDatabase } from '../../world/database';
import {
  atMost,
  compare,
  type Figure,
  type PartOptions,
  type PartResult,
  roundsOf,
  samplesFor,
} from '../figures';
import {
  addPeople,
  callerId,
  type Filling,
  fillRegion,
  organizationId,
  setMembers,
  userGroupId,
} from '../fill';
import { interleave, time } from '../interleave';

const groupCounts = [1_000, 10_000, 100_000, 1_000_000];
const memberCounts = [10, 1_000, 100_000] as const;

/** Groups of one organization: as it may be, and the most that can be. */
const distributions = { '1,000 an organization': 1_000, 'one organization': 10_000_000 };

/**
 * How the deletion's time grows with what there is. The product's statement goes to PostgreSQL without any path between,
 * and commits do not wait for the disk: both would only hide growth.
 */
export async function measureGrowth(options: PartOptions): Promise<PartResult> {
  const results: PartResult[] = [];
  for (const [name, groupsPerOrganization] of Object.entries(distributions)) {
    // The databases of one distribution would slow down the next.
    const cleanup = new Cleanup();
    try {
      results.push(await measureGroups(name, groupsPerOrganization, { ...options, cleanup }));
    } finally {
      await cleanup.run();
    }
  }
  return {
    figures: [...results.flatMap(({ figures }) => figures), ...(await measureMembers(options))],
    checks: results.flatMap(({ checks = [] }) => checks),
  };
}

async function startFilled(options: PartOptions, filling: Filling): Promise<Client> {
  const { cleanup, directory, signal } = options;
  const { client } = await startDatabase(cleanup, { directory, access: 'direct', signal });
  await fillRegion(client, filling);
  return client;
}

async function measureGroups(
  name: string,
  groupsPerOrganization: number,
  options: PartOptions,
): Promise<PartResult> {
  const rounds = roundsOf(options, 300, samplesFor(options, 100));
  // With little effort the large ones, which take minutes to fill, are left out.
  const counts = groupCounts.filter((count) => count <= Math.max(10_000, 1_000_000 * options.effort));
  // Deleted ones are extra, so that the last deletion meets as many groups as the name says.
  const spare = rounds.samples + rounds.warmUp + 1;
  const clients = new Map<number, Client>();
  for (const count of counts) {
    options.progress(`${name}: filling with ${count} groups`);
    clients.set(count, await startFilled(options, { groups: count + spare, groupsPerOrganization }));
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
  const variants = Object.fromEntries(counts.map((count) => [count, deleteFrom(count)]));
  options.progress(`${name}: ${rounds.samples} rounds`);
  const taken = await interleave(variants, rounds);
  const [smallest = 0, ...larger] = counts;
  const figures = larger.map((count) =>
    compare(
      {
        what: `${format(count)} groups, ${name}`,
        against: `${format(smallest)} groups`,
        goal: atMost(1.3),
      },
      taken[count] ?? [],
      taken[smallest] ?? [],
    ),
  );
  const largest = Math.max(...counts);
  const plans = await executedPlans(clients.get(largest) as Client, async () => variants[largest]?.());
  const check: Check = {
    name: `no sequential scan among ${format(largest)} groups, ${name}, those of cascading deletions included`,
    times: plans.length,
    violations: plans.length > 0 ? plans.flatMap(sequentialScans) : ['no plan was seen'],
  };
  return { figures, checks: [check] };
}

async function measureMembers(options: PartOptions): Promise<Figure[]> {
  const rounds = roundsOf(options, 15, 2);
  options.progress(`members: filling, ${rounds.samples} rounds`);
  const groups = memberCounts.length * (rounds.samples + rounds.warmUp);
  const client = await startFilled(options, { groups, groupsPerOrganization: 10_000 });
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
  const name = (count: number) => `group of ${format(count)} members`;
  const thousand = (count: number) => `1,000 of ${format(count)} members`;
  const samples = (count: number) => taken[count] ?? [];
  const perThousand = (count: number) => samples(count).map((sample) => (1_000 * sample) / count);
  return [
    compare(
      { what: thousand(many), against: thousand(some), goal: atMost(1.3) },
      perThousand(many),
      perThousand(some),
    ),
    compare({ what: name(many), against: 'one second', goal: atMost(1) }, samples(many), [1_000]),
    compare({ what: name(some), against: name(few) }, samples(some), samples(few)),
  ];
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
  return time(async () => {
    const { rows } = await client.query(toQuery(statement));
    const outcome = rows[0]?.outcome;
    if (outcome !== 'deleted') throw new Error(`Group ${group} of ${organization}: ${outcome}`);
  });
}

const format = (count: number) => count.toLocaleString('en');
