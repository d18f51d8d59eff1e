import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, sql } from '../../../lambda/database/database';
import { deleteInDatabase } from '../../../lambda/delete-user-group/delete-in-database';
import { addGroup, deletionOf, rows, seedOrganization } from '../../support/organization';
import { startRegionDatabase } from '../../support/region-database';
import { type Figure, interleave, type PartOptions } from './measure';

/** The deletion with direct access, against one inserted row. */
export async function measureDeletion(options: PartOptions): Promise<Figure[]> {
  const region = await startRegionDatabase('direct');
  options.cleanup.add(() => region.stop());
  await region.migrate();
  const organization = await seedOrganization(region.owner);
  const figures: Figure[] = [];
  // Typical milliseconds between function and database in a region.
  for (const roundTrip of [1, 5]) {
    const later = (database: Database): Database => ({
      async execute(statement) {
        await sleep(roundTrip);
        return database.execute(statement);
      },
    });
    const remove = deleteInDatabase(later(region.as('delete_user_group')));
    const variants = {
      /** Does not count the creation of the group. */
      async value() {
        const userGroupId = await addGroup(region.owner, organization);
        const began = performance.now();
        const outcome = await remove(deletionOf({ ...organization, userGroupId }));
        if (!outcome.ok || outcome.value !== 'deleted') throw new Error(JSON.stringify(outcome));
        return performance.now() - began;
      },
      async baseline() {
        const statement = sql`
          insert into used_user_actions (user_action_id, organization_id, identity_id, request_id, expires_at)
          values (gen_random_uuid(), '', '', '', now())`;
        await rows(later(region.owner), statement);
      },
    };
    figures.push({
      what: `deletion, round trip of ${roundTrip} ms`,
      against: 'one inserted row',
      unit: 'ms',
      goal: 1.3,
      ...(await interleave(variants, 400, options)),
    });
  }
  return figures;
}
