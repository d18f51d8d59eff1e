import { setTimeout as sleep } from 'node:timers/promises';
import { ok } from '../../../domain/result';
import { type Database, sql, type TransactionalDatabase } from '../../../lambda/database/database';
import { deleteInDatabase } from '../../../lambda/delete-user-group/delete-in-database';
import { addGroup, deletionOf, type Organization, rows, seedOrganization } from '../../support/organization';
import { startRegionDatabase } from '../../support/region-database';
import { type Figure, interleave, type PartOptions } from './measure';

/** Typical milliseconds between function and database in a region. */
const roundTrips = [1, 5];

/** The deletion with direct access, against one inserted row and a transaction of several statements. */
export async function measureDeletion(options: PartOptions): Promise<Figure[]> {
  const region = await startRegionDatabase('direct');
  options.cleanup.add(() => region.stop());
  await region.migrate();
  const organization = await seedOrganization(region.owner);
  const figures: Figure[] = [];
  for (const roundTrip of roundTrips) {
    const later = (database: Database): Database => ({
      async execute(statement) {
        await sleep(roundTrip);
        return database.execute(statement);
      },
    });
    const remove = deleteInDatabase(later(region.as('delete_user_group')));
    /** Times the deletion of a new group, without its creation. */
    const deletionBy = (work: (group: Organization) => Promise<unknown>) => async () => {
      const userGroupId = await addGroup(region.owner, organization);
      const began = performance.now();
      await work({ ...organization, userGroupId });
      return performance.now() - began;
    };
    const { ours, insert, transaction } = await interleave(
      {
        ours: deletionBy(async (group) => {
          const outcome = await remove(deletionOf(group));
          if (!outcome.ok || outcome.value !== 'deleted') throw new Error(JSON.stringify(outcome));
        }),
        async insert() {
          const statement = sql`
            insert into used_user_actions (user_action_id, organization_id, identity_id, request_id, expires_at)
            values (gen_random_uuid(), '', '', '', now())`;
          await rows(later(region.owner), statement);
        },
        transaction: deletionBy(async (group) => {
          await deleteInTransaction(region.owner, later, group);
          // Begin and commit are round trips, too.
          for (let call = 0; call < 2; call += 1) await sleep(roundTrip);
        }),
      },
      400,
      options,
    );
    const figure = { what: `deletion, round trip of ${roundTrip} ms`, unit: 'ms', value: ours } as const;
    figures.push(
      { ...figure, against: 'one inserted row', baseline: insert, goal: 1.3 },
      { ...figure, against: 'a transaction', baseline: transaction, goal: 0.25 },
    );
  }
  return figures;
}

/** The deletion as it is usually written, without the single use of the user action, the audit record and repeats. */
const deleteInTransaction = (
  database: TransactionalDatabase,
  later: (database: Database) => Database,
  { organizationId, callerId, userGroupId }: Organization,
) =>
  database.transaction(async (open) => {
    const statements = [
      sql`select 1 from permission_assignments assignment join permissions using (permission_id)
        where assignment.organization_id = ${organizationId} and identity_id = ${callerId}`,
      sql`select name from user_groups where user_group_id = ${userGroupId} for update`,
      sql`delete from permission_assignments where user_group_id = ${userGroupId}`,
      sql`delete from user_group_members where user_group_id = ${userGroupId}`,
      sql`delete from user_groups where user_group_id = ${userGroupId}`,
    ];
    for (const statement of statements) await rows(later(open), statement);
    return ok(undefined);
  });
