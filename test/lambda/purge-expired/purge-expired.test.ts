import { fail, ok } from '../../../domain/result';
import { createExpiring } from '../../../lambda/purge-expired/expiring-tables';
import { createHandler } from '../../../lambda/purge-expired/handler';
import { type Expiring, purgeExpired } from '../../../lambda/purge-expired/purge-expired';
import { recordLog } from '../../support/log';
import { useMigratedDatabase } from '../../support/region-database';

const log = recordLog();
const database = useMigratedDatabase();

beforeEach(async () => {
  log.clear();
  await database.query`truncate webhook_attempts, webhook_events, used_user_actions`;
});

const purge = () =>
  createHandler({ expiring: createExpiring(database.as('purge_expired')), log, now: Date.now })(undefined);

const addAttempts = (count: number, age: string) =>
  database.query`
    insert into webhook_attempts
      (event_id, webhook_id, delivery_id, attempted_at, duration_ms, status, outcome, reason)
    select 'ev-1', 'wh-1', 'msg_1', now() - ${age}::interval, 1, 200, 'delivered', 'ok'
    from generate_series(1, ${count}::integer)`;

const addUserAction = (id: string, expiry: string) =>
  database.query`
    insert into used_user_actions (user_action_id, organization_id, identity_id, request_id, expires_at)
    values (${id}, 'or-1', 'us-1', 'request-1', now() + ${expiry}::interval)`;

const addEvent = (id: string, age: string) =>
  database.query`
    insert into webhook_events (event_id, organization_id, kind, accepted_at, body)
    values (${id}, 'or-1', 'wallet.created', now() - ${age}::interval, '{}')`;

const left = () => database.query`
  select (select string_agg(event_id, ' ' order by event_id) from webhook_events) as events,
         (select count(*)::integer from webhook_attempts) as attempts,
         (select string_agg(user_action_id, ' ' order by user_action_id) from used_user_actions) as actions`;

it('deletes attempts of more than 31 days, however many, events of more than 14, and used user actions that expired an hour ago', async () => {
  await addAttempts(2_500, '31 days 1 second');
  await addAttempts(2, '30 days 23 hours');
  await addUserAction('expired', '-61 minutes');
  await addUserAction('just expired', '-59 minutes');
  await addUserAction('valid', '5 minutes');
  await addEvent('ev-old', '14 days 1 second');
  await addEvent('ev-young', '13 days 23 hours');

  await purge();
  expect(await left()).toEqual([{ events: 'ev-young', attempts: 2, actions: 'just expired valid' }]);
  expect(log.lines).toEqual([
    {
      message: 'Expired rows purged',
      logCode: 'EXPIRED_PURGED',
      webhookAttempts: 2_500,
      webhookEvents: 1,
      usedUserActions: 1,
    },
  ]);
});

it('deletes nothing when nothing has expired', async () => {
  await purge();
  expect(log.lines).toMatchObject([{ webhookAttempts: 0, usedUserActions: 0 }]);
});

it('fails visibly when the database is unavailable', async () => {
  const away: Expiring = {
    name: 'rows',
    deleteSome: async () => fail({ kind: 'database_unavailable', reason: 'timeout' }),
  };
  await expect(createHandler({ expiring: [away], log, now: Date.now })(undefined)).rejects.toThrow('timeout');
});

describe('with more to delete than there is time for', () => {
  let time = 0;
  beforeEach(() => {
    time = 0;
  });
  const endless = (name: string): Expiring => ({
    name,
    async deleteSome(limit) {
      time += 1;
      return ok(limit);
    },
  });

  it('ends at its deadline', async () => {
    expect(await purgeExpired([endless('rows')], 3, () => time)).toEqual(ok({ rows: 3_000 }));
  });

  it('gives each kind its turn', async () => {
    expect(await purgeExpired([endless('rows'), endless('others')], 5, () => time)).toEqual(
      ok({ rows: 3_000, others: 2_000 }),
    );
  });
});
