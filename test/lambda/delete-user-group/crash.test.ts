import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../../../lambda/database/sql';
import { deleteInDatabase } from '../../../lambda/delete-user-group/delete-in-database';
import {
  addGroup,
  deletionOf,
  gone,
  type Organization,
  rows,
  seedOrganization,
  traces,
  whole,
} from '../../support/organization';
import { useMigratedDatabase } from '../../support/region-database';

/** With both ways to the database: fifty in all. */
const crashes = 25;
const recoveryLimit = 10_000;

/**
 * A backend that is killed takes all others with it: PostgreSQL then recovers from its log, as after a crash. What it has
 * written is there then, synced to the disk or not: a loss of power is another matter.
 */
describe.each(['data-api', 'direct'] as const)(
  'a deletion with %s access, the database killed under it,',
  (access) => {
    const region = useMigratedDatabase(access);
    let organization: Organization;
    beforeAll(async () => {
      organization = await seedOrganization(region.owner);
    });

    /** A process of the server, which a recovery restarts. */
    const checkpointer = sql`select pid from pg_stat_activity where backend_type = 'checkpointer'`;

    async function recovered(before: number): Promise<void> {
      const deadline = Date.now() + recoveryLimit;
      for (;;) {
        const now = await region.owner.execute(checkpointer);
        if (now.ok && now.value[0] && now.value[0].pid !== before) return;
        if (Date.now() > deadline) throw new Error(`PostgreSQL did not recover within ${recoveryLimit} ms`);
        await sleep(50);
      }
    }

    it(`is whole or not there at all, ${crashes} times`, async () => {
      const deleteUserGroup = deleteInDatabase(region.as('delete_user_group'));
      const seen = { whole: 0, gone: 0 };
      for (let crash = 0; crash < crashes; crash += 1) {
        const userGroupId = await addGroup(region.owner, organization);
        const request = deletionOf(organization, { userGroupId });
        await deleteUserGroup(deletionOf(organization, { userGroupId: 'none' }));
        const [backend] =
          await region.query`select pid from pg_stat_activity where usename = 'delete_user_group' limit 1`;
        const [before] = await rows(region.owner, checkpointer);

        const answer = deleteUserGroup(request);
        await sleep(randomInt(0, 4));
        process.kill(backend?.pid as number, 'SIGKILL');
        const outcome = await answer;
        await recovered(before?.pid as number);

        const left = await traces(region.owner, request.userGroupId);
        expect([whole, gone]).toContainEqual(left);
        if (outcome.ok) expect({ outcome: outcome.value, left }).toEqual({ outcome: 'deleted', left: gone });
        seen[left.groups === 1 ? 'whole' : 'gone'] += 1;

        expect(await deleteUserGroup(request)).toEqual({ ok: true, value: 'deleted' });
        expect(await traces(region.owner, request.userGroupId)).toEqual(gone);
      }
      expect(seen.whole + seen.gone).toBe(crashes);
    }, 120_000);
  },
);
