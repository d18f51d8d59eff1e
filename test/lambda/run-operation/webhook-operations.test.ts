import { createWebhooks } from '../../../lambda/deliver-webhook/webhooks-table';
import { createSubscriptions } from '../../../lambda/fan-out-event/subscriptions-table';
import { newId } from '../../../lambda/shared/ids';
import { ok } from '../../../lambda/shared/result';
import { addOrganization } from '../../support/webhooks';
import { refused, useOperations } from './operations';

type Json = Readonly<Record<string, unknown>>;

const url = 'https://hooks.customer.com/wallet?tenant=1';

describe.each(['data-api', 'direct'] as const)('with the database adapter %s', (access) => {
  const { region, invoke, done } = useOperations(access);
  let organizationId: string;
  beforeEach(async () => {
    organizationId = await addOrganization(region.owner);
  });

  const add = async (change: Json = {}) => {
    const { webhookId } = await done('add-webhook', { organizationId, url, ...change });
    return String(webhookId);
  };
  const wanting = (kind: string) =>
    createSubscriptions(region.as('fan_out_event')).wanting({ id: 'e', organizationId, kind, text: '{}' });

  describe('add-webhook', () => {
    it('adds one that wants all kinds, enabled, with its first secret', async () => {
      const webhookId = await add();
      expect(webhookId).toMatch(/^wh-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{16}$/);
      expect(await wanting('any.kind')).toEqual(ok([webhookId]));
      expect(await done('describe-webhook', { webhookId })).toEqual({
        webhookId,
        organizationId,
        url,
        kinds: null,
        enabled: true,
        disabledReason: null,
        secretVersion: 1,
        rotatedAt: null,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      });
    });

    it('adds one that wants some kinds, each once, whatever they are called', async () => {
      const kinds = ['wallet.created', 'null', 'a/b:c_d-e', 'wallet.created'];
      const webhookId = await add({ kinds });
      expect(await done('describe-webhook', { webhookId })).toMatchObject({ kinds: kinds.slice(0, 3) });
      expect(await wanting('null')).toEqual(ok([webhookId]));
      expect(await wanting('wallet.deleted')).toEqual(ok([]));
    });

    it('keeps the URL as the URL standard writes it', async () => {
      const webhookId = await add({ url: ' https://HOOKS.Customer.com:443/a b ' });
      expect(await done('describe-webhook', { webhookId })).toMatchObject({
        url: 'https://hooks.customer.com/a%20b',
      });
    });

    it.each([
      ['scheme_not_https', 'http://127.0.0.1:8010/'],
      ['address_instead_of_name', 'https://169.254.169.254/'],
      ['url_too_long', `https://hooks.customer.com/${'é'.repeat(700)}`],
    ])('refuses with %s a URL that delivery would refuse', async (code, refusedUrl) => {
      expect(await invoke('add-webhook', { organizationId, url: refusedUrl })).toEqual(refused(code));
    });

    it('takes a receiver on this machine where the local environment permits it', async () => {
      const input = { organizationId, url: 'http://127.0.0.1:8010/' };
      expect(await invoke('add-webhook', input, true)).toMatchObject({ ok: true });
    });

    it.each([
      ['no kinds', []],
      ['a kind with a comma', ['a,b']],
      ['a kind that is no text', [1]],
      ['101 kinds', Array.from({ length: 101 }, (_, index) => `kind${index}`)],
      ['text', 'wallet.created'],
    ])('refuses %s', async (_, kinds) => {
      expect(await invoke('add-webhook', { organizationId, url, kinds })).toEqual(
        refused('input_invalid', expect.stringContaining('"kinds" must be 1 to 100 kinds')),
      );
    });

    it('refuses one enabled webhook too many; all of them fit one answer, as long as they may be', async () => {
      const kinds = JSON.stringify(Array.from({ length: 100 }, (_, index) => `${index}-`.padEnd(128, 'k')));
      await region.query`
        insert into webhooks (webhook_id, organization_id, url, kinds, enabled, disabled_reason)
        select 'wh-' || substr(id, 1, 5) || '-' || substr(id, 6, 5) || '-' || substr(id, 11, 16), ${organizationId},
          rpad(${url}, 2048, 'x'), (select array_agg(kind) from jsonb_array_elements_text(${kinds}::jsonb) kind),
          number <= 49, case when number > 49 then 'gone' end
        from generate_series(1, 60) number, md5(${organizationId} || number) id`;
      await add();
      expect(await invoke('add-webhook', { organizationId, url })).toEqual(
        refused('too_many_webhooks', expect.stringContaining('50 enabled webhooks')),
      );
      const { webhooks } = await done('list-webhooks', { organizationId });
      expect(webhooks).toHaveLength(50);
      expect((webhooks as Json[]).every(({ enabled }) => enabled)).toBe(true);
    });

    it('refuses an organization that does not exist, and names the environment', async () => {
      const absent = newId('or');
      expect(await invoke('add-webhook', { organizationId: absent, url })).toEqual(
        refused('organization_not_found', expect.stringContaining(`${absent} in environment test`)),
      );
    });
  });

  it('list-webhooks lists those of one organization, the latest first', async () => {
    const first = await add();
    await region.query`update webhooks set created_at = created_at - interval '1 minute'`;
    const second = await add();
    organizationId = await addOrganization(region.owner);
    const other = await add();
    const { webhooks } = await done('list-webhooks', { organizationId });
    expect(webhooks).toMatchObject([{ webhookId: other }]);
    const { organizationId: earlier } = await done('describe-webhook', { webhookId: first });
    expect(await done('list-webhooks', { organizationId: earlier })).toMatchObject({
      webhooks: [{ webhookId: second }, { webhookId: first }],
    });
  });

  describe('rotate-webhook-secret', () => {
    const rotate = (webhookId: string, change: Json = {}) =>
      invoke('rotate-webhook-secret', { webhookId, ...change });

    it('gives the next secret, and delivery signs by both for 24 h', async () => {
      const webhookId = await add();
      const before = Date.now();
      const { rotatedAt, previousSignsUntil, ...rest } = await done('rotate-webhook-secret', { webhookId });
      expect(rest).toEqual({ webhookId, secretVersion: 2 });
      expect(Math.abs(Date.parse(String(rotatedAt)) - before)).toBeLessThan(10_000);
      expect(Date.parse(String(previousSignsUntil)) - Date.parse(String(rotatedAt))).toBe(24 * 3_600_000);
      const found = await createWebhooks(region.as('deliver_webhook')).find(webhookId);
      expect(found).toMatchObject({ ok: true, value: { secretVersion: 2, rotatedAt: expect.any(Number) } });
    });

    it('refuses another rotation while the older secret signs, unless told that it may end', async () => {
      const webhookId = await add();
      await rotate(webhookId);
      expect(await rotate(webhookId)).toEqual(refused('rotation_running', expect.stringContaining('until')));
      expect(await done('describe-webhook', { webhookId })).toMatchObject({ secretVersion: 2 });
      expect(await rotate(webhookId, { again: true })).toMatchObject({ result: { secretVersion: 3 } });
    });

    it('rotates again when 24 h have passed', async () => {
      const webhookId = await add();
      await rotate(webhookId);
      await region.query`
        update webhooks set rotated_at = rotated_at - interval '24 hours' where webhook_id = ${webhookId}`;
      expect(await rotate(webhookId)).toMatchObject({ result: { secretVersion: 3 } });
    });

    it('rotates once of two that are asked for at once', async () => {
      const webhookId = await add();
      const answers = await Promise.all([rotate(webhookId), rotate(webhookId)]);
      expect(answers.filter((answer) => answer.ok)).toHaveLength(1);
      expect(await done('describe-webhook', { webhookId })).toMatchObject({ secretVersion: 2 });
    });
  });

  describe('disable-webhook and enable-webhook', () => {
    it('end and resume what is delivered', async () => {
      const webhookId = await add();
      expect(await done('disable-webhook', { webhookId })).toEqual({
        webhookId,
        enabled: false,
        disabledReason: 'operator',
      });
      expect(await wanting('any.kind')).toEqual(ok([]));
      expect(await done('enable-webhook', { webhookId })).toEqual({
        webhookId,
        enabled: true,
        disabledReason: null,
      });
      expect(await wanting('any.kind')).toEqual(ok([webhookId]));
    });

    it('keep the reason for which it was disabled before', async () => {
      const webhookId = await add();
      await createWebhooks(region.as('deliver_webhook')).disable(webhookId, url, 'gone');
      expect(await done('disable-webhook', { webhookId })).toMatchObject({ disabledReason: 'gone' });
    });
  });

  it.each(['describe-webhook', 'rotate-webhook-secret', 'disable-webhook', 'enable-webhook'])(
    '%s refuses a webhook that does not exist, and an invalid id',
    async (operation) => {
      const webhookId = newId('wh');
      expect(await invoke(operation, { webhookId })).toEqual(
        refused('webhook_not_found', expect.stringContaining(`${webhookId} in environment test`)),
      );
      expect(await invoke(operation, { webhookId: newId('or') })).toEqual(refused('input_invalid'));
    },
  );

  describe('list-delivery-attempts', () => {
    it('lists the attempts to deliver an event as they were made, and when it is tried next', async () => {
      const webhookId = newId('wh');
      const at = Date.parse('2026-11-20T12:00:00.123Z');
      const attempts = createWebhooks(region.as('deliver_webhook'));
      const attempt = { eventId: 'evt_1', webhookId, deliveryId: 'msg_1', durationMs: 12.4 };
      const failed = {
        ...attempt,
        attemptedAt: at,
        outcome: 'failed',
        reason: 'connection_refused',
      } as const;
      await attempts.record({ ...failed, nextAttemptAt: at + 5_000 });
      await attempts.record({
        ...attempt,
        attemptedAt: at + 5_001,
        status: 204,
        outcome: 'delivered',
        reason: 'ok',
      });
      await attempts.record({ ...failed, eventId: 'evt_2' });

      const common = { webhookId, deliveryId: 'msg_1', durationMs: 12 };
      expect(await done('list-delivery-attempts', { eventId: 'evt_1' })).toEqual({
        attempts: [
          {
            ...common,
            date: '2026-11-20T12:00:00.123Z',
            status: null,
            outcome: 'failed',
            reason: 'connection_refused',
            nextAttemptAt: '2026-11-20T12:00:05.123Z',
          },
          {
            ...common,
            date: '2026-11-20T12:00:05.124Z',
            status: 204,
            outcome: 'delivered',
            reason: 'ok',
            nextAttemptAt: null,
          },
        ],
      });
    });

    it('lists nothing for an unknown event, and refuses an invalid id', async () => {
      expect(await done('list-delivery-attempts', { eventId: 'evt_unknown' })).toEqual({ attempts: [] });
      expect(await invoke('list-delivery-attempts', { eventId: 'a.b' })).toEqual(refused('input_invalid'));
    });
  });
});
