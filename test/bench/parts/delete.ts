import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseAccess } from '../../../lambda/database/environment';
import { Cleanup } from '../../../lib/local/cleanup';
import { type LocalFunction, startFunction } from '../../../lib/local/function-runtime';
import { createSigningKey } from '../../support/tokens';
import { bundle, synthesizeBundles } from '../bundles';
import { deletionEvent, deletionVariables } from '../deletion-event';
import { compare, type Figure, type PartOptions, type PartResult, samplesFor } from '../figures';
import { fillRegion, userGroupId } from '../fill';
import { interleave } from '../interleave';
import { region, startRegion } from '../region';

const groupsPerOrganization = 1_000;
const accesses: readonly DatabaseAccess[] = ['data-api', 'direct'];

interface Bundles {
  readonly deletion: string;
  readonly transaction: string;
  readonly oneStatement: string;
}

/** The deletion through its deployed bundle, against one statement and against several. */
export async function measureDeletion(options: PartOptions): Promise<PartResult> {
  const directory = await mkdtemp(join(tmpdir(), 'wallet-bench-'));
  try {
    const deployed = await synthesizeBundles(join(directory, 'assembly'), options.signal);
    const bundles = {
      deletion: deployed['delete-user-group'] ?? '',
      transaction: bundle(join(directory, 'transaction'), {
        file: 'test/bench/functions/delete-in-transaction.ts',
      }),
      oneStatement: bundle(join(directory, 'one-statement'), {
        file: 'test/bench/functions/one-statement.ts',
      }),
    };
    const figures: Figure[] = [];
    for (const access of accesses) figures.push(...(await measureAccess(access, bundles, options)));
    return { figures };
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function measureAccess(
  access: DatabaseAccess,
  bundles: Bundles,
  options: PartOptions,
): Promise<Figure[]> {
  const cleanup = new Cleanup();
  const rounds = {
    samples: samplesFor(options, 1_000),
    warmUp: samplesFor(options, 200),
    signal: options.signal,
  };
  try {
    const database = await startRegion(cleanup, access, { durable: true, signal: options.signal });
    const groups = 2 * (rounds.samples + rounds.warmUp);
    await fillRegion(database.client, { groups, groupsPerOrganization });
    // The usual transaction locks the group, and deletes what refers to it itself.
    await database.client.query(`
      grant update on user_groups to delete_user_group;
      grant delete on user_group_members, permission_assignments to delete_user_group`);
    const key = createSigningKey();
    const environment = { ...database.variables('delete_user_group'), ...deletionVariables(key) };
    const start = (bundleDirectory: string) => {
      const local = startFunction({
        name: 'bench',
        region,
        bundleDirectory,
        handler: 'index.handler',
        environment,
        timeoutSeconds: 30,
        memoryMiB: 512,
        maxInstances: 1,
        onLog: () => undefined,
      });
      cleanup.add(() => local.stop());
      return local;
    };
    const [deletion, transaction, oneStatement] = [
      start(bundles.deletion),
      start(bundles.transaction),
      start(bundles.oneStatement),
    ];
    let next = 0;
    const deleteNext = (local: LocalFunction) => () => {
      const event = deletionEvent(key, Math.floor(next / groupsPerOrganization), userGroupId(next));
      next += 1;
      return invoke(local, event);
    };
    options.onProgress(`${access}: ${rounds.samples} rounds`);
    const taken = await interleave(
      {
        deletion: deleteNext(deletion),
        transaction: deleteNext(transaction),
        read: () => invoke(oneStatement, { statement: 'read' }),
        write: () => invoke(oneStatement, { statement: 'write', id: randomUUID() }),
      },
      rounds,
    );
    const what = `deletion, ${access}`;
    const unit = 'ms';
    return [
      compare(
        { what, against: 'SELECT 1', unit, goal: { bound: 'at most', ratio: 1.5 } },
        taken.deletion,
        taken.read,
      ),
      compare({ what, against: 'INSERT of one row', unit }, taken.deletion, taken.write),
      compare({ what, against: 'usual transaction', unit }, taken.deletion, taken.transaction),
    ];
  } finally {
    await cleanup.run();
  }
}

/** Milliseconds of one invocation. @throws Error when it is not answered with 200 */
async function invoke(local: LocalFunction, event: unknown): Promise<number> {
  const begin = performance.now();
  const result = await local.invoke(event);
  const duration = performance.now() - begin;
  const { statusCode, body } = result.ok ? (result.payload as { statusCode: number; body?: string }) : {};
  if (statusCode !== 200) throw new Error(`Not answered with 200: ${body ?? JSON.stringify(result)}`);
  return duration;
}
