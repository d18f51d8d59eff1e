import { parseEvent } from '../../../domain/event';
import { probe } from '../../../domain/probe';
import { fail, ok } from '../../../domain/result';
import { createHandler } from '../../../lambda/probe-webhooks/handler';
import { recordLog } from '../../support/log';
import { useMigratedDatabase } from '../../support/region-database';

const region = useMigratedDatabase();
const checkUrl = 'https://api.customer.com/webhook-origins/check';

function probeOnce(database = region.as('probe_webhooks')) {
  const sent: string[] = [];
  const events = {
    async send(messages: readonly { readonly body: string }[]) {
      sent.push(...messages.map(({ body }) => body));
      return ok(null);
    },
    hide: async () => ok(null),
  };
  const handle = createHandler({ database, events, checkUrl, log: recordLog() });
  return handle({}).then(() => sent);
}
const find = () => region.query`
  select organization_id, webhook_id, url, kinds::text as kinds, enabled, secret_version, ephemeral
  from webhooks join organizations using (organization_id)`;

const expected = {
  ...{ organization_id: probe.organizationId, webhook_id: probe.webhookId, kinds: `{${probe.kind}}` },
  ...{ url: `${checkUrl}/${probe.webhookId}`, enabled: true, secret_version: 1, ephemeral: false },
};

it('makes its webhook, and puts it right whatever was done to it', async () => {
  await Promise.all([probeOnce(), probeOnce()]);
  expect(await find()).toEqual([expected]);
  await region.query`
    update webhooks set url = 'https://hooks.customer.com/', kinds = null, secret_version = 2, rotated_at = now(),
      enabled = false, disabled_reason = 'operator', disabled_at = now()`;
  await probeOnce();
  expect(await find()).toEqual([expected]);
  await region.query`delete from webhooks`;
  await probeOnce();
  expect(await find()).toEqual([expected]);
});

it('sends one event for that webhook alone, of a new id each time', async () => {
  const [[first = ''], [second = '']] = [await probeOnce(), await probeOnce()];
  const event = parseEvent(first);
  expect(event).toMatchObject(ok({ organizationId: probe.organizationId, kind: probe.kind }));
  expect(parseEvent(second)).not.toMatchObject({ value: { id: Object(event).value.id } });
});

it('fails when the database is unavailable, and sends nothing', async () => {
  const unavailable = {
    execute: async () => fail({ kind: 'database_unavailable', reason: 'timeout' } as const),
  };
  await expect(probeOnce(unavailable)).rejects.toThrow('The database is unavailable: timeout.');
});
