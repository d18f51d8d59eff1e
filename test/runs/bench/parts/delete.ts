import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { DatabaseAccess } from '../../../../lambda/database/environment';
import { Cleanup } from '../../../../local/cleanup';
import type { LocalFunction } from '../../../../local/lambda/function';
import { createSigningKey } from '../../../support/tokens';
import { bundle, synthesizeBundles } from '../../world/bundles';
import { startDatabase } from '../../world/database';
import { startBundle } from '../../world/functions';
import { temporaryFolder } from '../../world/temporary-folder';
import { deletionEvent, deletionVariables } from '../deletion-event';
import {
  atMost,
  compare,
  type Figure,
  type PartOptions,
  type PartResult,
  roundsOf,
  samplesFor,
} from '../figures';
import { fillRegion, userGroupId } from '../fill';
import { interleave, time } from '../interleave';

const groupsPerOrganization = 1_000;
/** Milliseconds between function and database: none, and what regions have. */
const roundTrips = [0, 1, 5];

interface Bundles {
  readonly deletion: string;
  readonly transaction: string;
  readonly oneRow: string;
}

/** The deletion through its deployed bundle, against the least that is durable and against several statements. */
export async function measureDeletion(options: PartOptions): Promise<PartResult> {
  const { directory, signal } = options;
  const deployed = await synthesizeBundles(join(directory, 'assembly'), signal);
  const bundleOf = (name: string) =>
    bundle(join(directory, name), { file: `test/runs/bench/functions/${name}.ts` });
  const others = {
    transaction: bundleOf('delete-in-transaction'),
    oneRow: bundleOf('insert-one-row'),
  };
  const figures: Figure[] = [];
  for (const access of ['data-api', 'direct'] as const) {
    const name = access === 'direct' ? 'delete-user-group, direct' : 'delete-user-group';
    const bundles = { ...others, deletion: deployed[name] ?? '' };
    for (const roundTripMs of roundTrips) {
      // What one of them has started would slow down the others.
      const cleanup = new Cleanup();
      try {
        const ofRoundTrip = await temporaryFolder(cleanup);
        const given = { ...options, cleanup, directory: ofRoundTrip };
        figures.push(...(await measureAccess(access, roundTripMs, bundles, given)));
      } finally {
        await cleanup.run();
      }
    }
  }
  return { figures };
}

async function measureAccess(
  access: DatabaseAccess,
  roundTripMs: number,
  bundles: Bundles,
  options: PartOptions,
): Promise<Figure[]> {
  const { cleanup, directory, signal } = options;
  const rounds = roundsOf(options, roundTripMs > 0 ? 400 : 1_000, samplesFor(options, 200));
  const database = await startDatabase(cleanup, { directory, access, durable: true, roundTripMs, signal });
  const groups = 2 * (rounds.samples + rounds.warmUp);
  await fillRegion(database.client, { groups, groupsPerOrganization });
  // The usual transaction locks the group, and deletes what refers to it itself.
  await database.client.query(`
    grant update on user_groups to delete_user_group;
    grant delete on user_group_members, permission_assignments to delete_user_group`);
  const key = createSigningKey();
  const environment = { ...database.variables('delete_user_group'), ...deletionVariables(key) };
  const start = (bundleDirectory: string) =>
    startBundle(cleanup, { bundleDirectory, environment, timeoutSeconds: 30, maxInstances: 1 });
  const oneRow = start(bundles.oneRow);
  let next = 0;
  const deleteBy = (bundleDirectory: string) => {
    const local = start(bundleDirectory);
    return () => {
      const event = deletionEvent(key, Math.floor(next / groupsPerOrganization), userGroupId(next));
      next += 1;
      return invoke(local, event);
    };
  };
  options.progress(`${access}, round trip of ${roundTripMs} ms: ${rounds.samples} rounds`);
  const taken = await interleave(
    {
      deletion: deleteBy(bundles.deletion),
      transaction: deleteBy(bundles.transaction),
      insert: () => invoke(oneRow, { id: randomUUID() }),
    },
    rounds,
  );
  const far = roundTripMs > 0;
  const what = `deletion, ${access}${far ? `, round trip ${roundTripMs} ms` : ''}`;
  const goalOf = (ratio: number) => (far ? { goal: atMost(ratio) } : {});
  return [
    compare({ what, against: 'INSERT of one row', ...goalOf(1.3) }, taken.deletion, taken.insert),
    compare({ what, against: 'usual transaction', ...goalOf(0.25) }, taken.deletion, taken.transaction),
  ];
}

/** Milliseconds of one invocation. @throws Error when it is not answered with 200 */
const invoke = (local: LocalFunction, event: unknown): Promise<number> =>
  time(async () => {
    const result = await local.invoke(event);
    const answer = result.ok ? (result.payload as { statusCode: number; body?: string }) : undefined;
    if (answer?.statusCode !== 200)
      throw new Error(`Not answered with 200: ${answer?.body ?? JSON.stringify(result)}`);
  });
