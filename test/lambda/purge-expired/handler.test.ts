import { fail, ok } from '../../../domain/result';
import { createHandler, timeout } from '../../../lambda/purge-expired/handler';
import { recordLog } from '../../support/log';
import { useMigratedDatabase } from '../../support/region-database';

const log = recordLog();
const region = useMigratedDatabase();
beforeEach(() => log.clear());

it('deletes any number of attempts after 31 days, events after 14, and used user actions an hour after they expire', async () => {
  await region.query`
    with attempt as (
      insert into webhook_attempts
        (event_id, webhook_id, delivery_id, attempted_at, duration_ms, status, outcome, reason)
      select 'ev-1', 'wh-1', 'msg_1', now() - age, 1, 200, 'delivered', 'ok'
      from (values (interval '31 days 1 second', 25), ('30 days 23 hours', 2)) attempt (age, number),
        generate_series(1, number)
    ), event as (
      insert into webhook_events (event_id, organization_id, kind, accepted_at, body)
      values ('old', 'or-1', 'wallet.created', now() - interval '14 days 1 second', '{}'),
        ('young', 'or-1', 'wallet.created', now() - interval '13 days 23 hours', '{}')
    )
    insert into used_user_actions (user_action_id, organization_id, identity_id, request_id, expires_at)
    values ('expired', 'or-1', 'us-1', 'request-1', now() - interval '61 minutes'),
      ('just expired', 'or-1', 'us-1', 'request-1', now() - interval '59 minutes')`;
  const database = region.as('purge_expired');
  await createHandler({ database, log, now: Date.now, batchSize: 10 })(undefined);
  const left = await region.query`
    select (select string_agg(event_id, ' ') from webhook_events) as events,
      (select count(*)::integer from webhook_attempts) as attempts,
      (select string_agg(user_action_id, ' ') from used_user_actions) as actions`;
  expect(left).toEqual([{ events: 'young', attempts: 2, actions: 'just expired' }]);
  expect(log.lines).toMatchObject([{ webhookAttempts: 25, webhookEvents: 1, usedUserActions: 1 }]);
});

it('fails visibly when the database is unavailable', async () => {
  const database = { execute: async () => fail({ kind: 'database_unavailable', reason: 'x' } as const) };
  const purge = createHandler({ database, log, now: Date.now, batchSize: 1 });
  await expect(purge(undefined)).rejects.toThrow('not available: x');
});

it('deletes from each table in turn, and stops at its deadline', async () => {
  let time = 0;
  const execute = async () => {
    time += timeout / 8;
    return ok([{ deleted: 1 }]);
  };
  await createHandler({ database: { execute }, log, now: () => time, batchSize: 1 })(undefined);
  expect(log.lines).toMatchObject([{ webhookAttempts: 3, webhookEvents: 3, usedUserActions: 3 }]);
});
