import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, sql } from '../../../lambda/database/database';
import { deleteInDatabase } from '../../../lambda/delete-user-group/delete-in-database';
import { addGroup, deletionOf, rows, seedOrganization } from '../../support/organization';
import { startRegionDatabase } from '../../support/region-database';
import { type Figure, interleave, type PartOptions } from './measure';

/** Typical milliseconds between function and database in a region. */
const roundTrips = [1, 5];

/** The deletion with direct access, against one inserted row. */
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
    const { ours, insert } = await interleave(
      {
        /** Without the creation of the group. */
        async ours() {
          const userGroupId = await addGroup(region.owner, organization);
          const began = performance.now();
          const outcome = await remove(deletionOf({ ...organization, userGroupId }));
          if (!outcome.ok || outcome.value !== 'deleted') throw new Error(JSON.stringify(outcome));
          return performance.now() - began;
        },
        async insert() {
          const statement = sql`
            insert into used_user_actions (user_action_id, organization_id, identity_id, request_id, expires_at)
            values (gen_random_uuid(), '', '', '', now())`;
          await rows(later(region.owner), statement);
        },
      },
      400,
      options,
    );
    figures.push({
      ...{ what: `deletion, round trip of ${roundTrip} ms`, unit: 'ms', value: ours },
      ...{ against: 'one inserted row', baseline: insert, goal: 1.3 },
    });
  }
  return figures;
}
