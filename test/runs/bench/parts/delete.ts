import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { DatabaseAccess } from '../../../../lambda/database/environment';
import { Cleanup } from '../../../../lib/local/cleanup';
import type { LocalFunction } from '../../../../lib/local/function-runtime';
import { createSigningKey } from '../../../support/tokens';
import { bundle, synthesizeBundles } from '../../world/bundles';
import { startDatabase } from '../../world/database';
import { startBundle } from '../../world/functions';
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

interface Bundles {
  readonly deletion: string;
  readonly transaction: string;
  readonly oneStatement: string;
}

/** The deletion through its deployed bundle, against one statement and against several. */
export async function measureDeletion(options: PartOptions): Promise<PartResult> {
  const { directory, signal } = options;
  const deployed = await synthesizeBundles(join(directory, 'assembly'), signal);
  const bundleOf = (name: string) =>
    bundle(join(directory, name), { file: `test/runs/bench/functions/${name}.ts` });
  const bundles = {
    deletion: deployed['delete-user-group'] ?? '',
    transaction: bundleOf('delete-in-transaction'),
    oneStatement: bundleOf('one-statement'),
  };
  const figures: Figure[] = [];
  for (const access of ['data-api', 'direct'] as const) {
    // What one access has started would slow down the other.
    const cleanup = new Cleanup();
    try {
      figures.push(...(await measureAccess(access, bundles, { ...options, cleanup })));
    } finally {
      await cleanup.run();
    }
  }
  return { figures };
}

async function measureAccess(
  access: DatabaseAccess,
  bundles: Bundles,
  options: PartOptions,
): Promise<Figure[]> {
  const { cleanup, directory, signal } = options;
  const rounds = roundsOf(options, 1_000, samplesFor(options, 200));
  const database = await startDatabase(cleanup, { directory, access, durable: true, signal });
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
  const oneStatement = start(bundles.oneStatement);
  let next = 0;
  const deleteBy = (bundleDirectory: string) => {
    const local = start(bundleDirectory);
    return () => {
      const event = deletionEvent(key, Math.floor(next / groupsPerOrganization), userGroupId(next));
      next += 1;
      return invoke(local, event);
    };
  };
  options.progress(`${access}: ${rounds.samples} rounds`);
  const taken = await interleave(
    {
      deletion: deleteBy(bundles.deletion),
      transaction: deleteBy(bundles.transaction),
      read: () => invoke(oneStatement, { statement: 'read' }),
      write: () => invoke(oneStatement, { statement: 'write', id: randomUUID() }),
    },
    rounds,
  );
  const what = `deletion, ${access}`;
  return [
    compare({ what, against: 'SELECT 1', goal: atMost(1.5) }, taken.deletion, taken.read),
    compare({ what, against: 'INSERT of one row' }, taken.deletion, taken.write),
    compare({ what, against: 'usual transaction' }, taken.deletion, taken.transaction),
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
