import type { DatabaseRole } from '../../../lambda/database/environment';
import { type Statement, sql } from '../../../lambda/database/sql';
import { type RegionDatabase, startMigratedDatabase } from '../../support/region-database';

let database: RegionDatabase;
beforeAll(async () => {
  database = await startMigratedDatabase();
});
afterAll(() => database.stop());

it.each<[DatabaseRole, string, Statement]>([
  ['fan_out_event', 'learn where webhooks go', sql`select url from webhooks`],
  ['fan_out_event', 'change a webhook', sql`update webhooks set enabled = true`],
  ['fan_out_event', 'see attempts', sql`select reason from webhook_attempts`],
  [
    'deliver_webhook',
    'see which organization a webhook belongs to',
    sql`select organization_id from webhooks`,
  ],
  ['deliver_webhook', 'change where a webhook goes', sql`update webhooks set url = 'https://example.com/'`],
  ['deliver_webhook', 'change a secret', sql`update webhooks set secret_version = 2`],
  ['deliver_webhook', 'make a webhook', sql`insert into webhooks (webhook_id) values ('wh-1')`],
  ['deliver_webhook', 'change an attempt', sql`update webhook_attempts set reason = 'x'`],
  ['deliver_webhook', 'delete an attempt', sql`delete from webhook_attempts`],
  ['deliver_webhook', 'see user groups', sql`select name from user_groups`],
  ['delete_user_group', 'see webhooks', sql`select webhook_id from webhooks`],
  ['run_operation', 'activate an identity', sql`update identities set active = true`],
  ['run_operation', 'delete an attempt', sql`delete from webhook_attempts`],
  [
    'run_operation',
    'move a webhook to another organization',
    sql`update webhooks set organization_id = 'or-1'`,
  ],
])('%s may not %s', async (role, _deed, statement) => {
  await expect(database.as(role).execute(statement)).rejects.toMatchObject({ sqlState: '42501' });
});

it.each([
  ['a disabled webhook without a reason', sql`false, null, 1, null`],
  ['an enabled webhook with a reason', sql`true, 'gone', 1, null`],
  ['a second secret without the time of its rotation', sql`true, null, 2, null`],
  ['a first secret with a time of rotation', sql`true, null, 1, now()`],
])('the schema refuses %s', async (_name, values) => {
  const statement: Statement = {
    text: [
      `insert into webhooks
         (webhook_id, organization_id, url, enabled, disabled_reason, secret_version, rotated_at)
       values ('wh-aaaaa-bbbbb-cccccccccccccc', 'or-1', 'https://example.com/', ${values.text[0]})`,
    ],
    values: [],
  };
  await expect(database.owner.execute(statement)).rejects.toMatchObject({ sqlState: '23514' });
});
