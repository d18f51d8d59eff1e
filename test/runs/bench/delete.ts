import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, sql, type TransactionalDatabase } from '../../../lambda/database/database';
import { deleteInDatabase } from '../../../lambda/delete-user-group/delete-in-database';
import { addGroup, deletionOf, type Organization, rows, seedOrganization } from '../../support/organization';
import { startRegionDatabase } from '../../support/region-database';
import { type Figure, interleave, type PartOptions } from './measure';

/** Typical milliseconds between function and database in a region. */
const roundTrips = [1, 5];

/** The deletion with direct access, against one inserted row and against a transaction of several statements. */
export async function measureDeletion(options: PartOptions): Promise<Figure[]> {
  const { cleanup, progress } = options;
  const region = await startRegionDatabase('direct');
  cleanup.add(() => region.stop());
  await region.migrate();
  const organization = await seedOrganization(region.owner);
  const figures: Figure[] = [];
  for (const roundTrip of roundTrips) {
    progress(`delete: round trip of ${roundTrip} ms`);
    const later = (database: Database): Database => ({
      async execute(statement) {
        await sleep(roundTrip);
        return database.execute(statement);
      },
    });
    const remove = deleteInDatabase(later(region.as('delete_user_group')));
    /** Times the deletion of a new group, without its creation. */
    const deletionBy = (work: (group: Organization) => Promise<void>) => async () => {
      const userGroupId = await addGroup(region.owner, organization);
      const began = performance.now();
      await work({ ...organization, userGroupId });
      return performance.now() - began;
    };
    const taken = await interleave(
      {
        ours: deletionBy(async (group) => {
          const outcome = await remove(deletionOf(group));
          if (!outcome.ok || outcome.value !== 'deleted') throw new Error(JSON.stringify(outcome));
        }),
        async insert() {
          await rows(
            later(region.owner),
            sql`insert into used_user_actions (user_action_id, organization_id, identity_id, request_id, expires_at)
              values (gen_random_uuid(), '', '', '', now())`,
          );
          return undefined;
        },
        transaction: deletionBy(async (group) => {
          await deleteInTransaction(region.owner, later, group);
          // Begin and commit are round trips, too.
          await sleep(roundTrip);
          await sleep(roundTrip);
        }),
      },
      400,
      options,
    );
    const what = `deletion, round trip of ${roundTrip} ms`;
    figures.push(
      { what, against: 'one inserted row', value: taken.ours, baseline: taken.insert, atMost: 1.3 },
      { what, against: 'a transaction', value: taken.ours, baseline: taken.transaction, atMost: 0.25 },
    );
  }
  return figures;
}

/** The deletion as it is usually written, without the single use of the user action, the audit record and repeats. */
async function deleteInTransaction(
  database: TransactionalDatabase,
  later: (database: Database) => Database,
  { organizationId, callerId, userGroupId }: Organization,
): Promise<void> {
  await database.transaction(async (open) => {
    const statements = [
      sql`select 1 from permission_assignments assignment join permissions using (permission_id)
        where assignment.organization_id = ${organizationId} and identity_id = ${callerId}`,
      sql`select name from user_groups where user_group_id = ${userGroupId} for update`,
      sql`delete from permission_assignments where user_group_id = ${userGroupId}`,
      sql`delete from user_group_members where user_group_id = ${userGroupId}`,
      sql`delete from user_groups where user_group_id = ${userGroupId}`,
    ];
    for (const statement of statements) await rows(later(open), statement);
    return { ok: true, value: undefined } as const;
  });
}
