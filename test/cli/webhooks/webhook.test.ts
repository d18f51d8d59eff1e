import { walletCommand } from '../../../cli/pasted-command';
import { parseDelivery } from '../../../domain/delivery';
import { parseEvent } from '../../../domain/event';
import { newId } from '../../../domain/ids';
import { sql } from '../../../lambda/database/sql';
import { rows } from '../../support/organization';
import { first } from '../../support/rows';
import { addOrganization } from '../../support/webhooks';
import { startWebhookRegion, type WebhookRegion } from './webhook-region';

let region: WebhookRegion;
let organizationId: string;
beforeAll(async () => {
  region = await startWebhookRegion();
});
beforeEach(async () => {
  await region.emptyQueues();
  organizationId = await addOrganization(region.owner);
});
afterAll(() => region.stop());

const url = 'https://hooks.customer.com/wallet';
const addArgs = () => ['webhook', 'add', '--organization', organizationId, '--url', url];
const add = (...args: string[]) => region.json<{ webhookId: string; secret: string }>(...addArgs(), ...args);
const list = () =>
  region.json<Record<string, unknown>[]>('webhook', 'list', '--organization', organizationId);

describe('webhook add', () => {
  it('prints with --json the id and the secret that deliveries are signed by, and nothing else', async () => {
    const { exitCode, stdout } = await region.wallet(...addArgs(), '--json');
    expect(exitCode).toBe(0);
    const printed = JSON.parse(stdout);
    expect(Object.keys(printed)).toEqual(['webhookId', 'secret']);
    expect(printed.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(printed.secret).toBe(await region.secret(printed.webhookId));
  });

  it('adds it for the kinds that are given', async () => {
    const { webhookId } = await add('--kinds', 'wallet.created,wallet.deleted');
    expect(await list()).toEqual([
      expect.objectContaining({ webhookId, url, kinds: ['wallet.created', 'wallet.deleted'], enabled: true }),
    ]);
  });

  it('tells a person how to go on, on stderr', async () => {
    const { stdout, stderr } = await region.wallet(...addArgs());
    expect(stdout).toMatch(/^webhookId {2}wh-\S+\nsecret {5}whsec_\S+\n$/);
    const place = { environment: first.name, outputs: region.outputs };
    expect(stderr).toContain(`${walletCommand('webhook secret', place)} --webhook wh-`);
    expect(stderr).toContain(`${walletCommand('local send-event', place)} `);
    expect(stderr).toContain(`--organization ${organizationId} --kind wallet.created --data '{}'`);
  });

  it.each([
    ['http://hooks.customer.com/', 'must begin with https://.\nGive one such as https://'],
    ['https://10.0.0.1/', 'The URL must have a public name, not an address.'],
    ['https://hooks.internal/', 'The name in the URL is not a public one.'],
    ['https://hooks.customer.com:22/', 'The port in the URL must be 443'],
    ['https://user:word@hooks.customer.com/', 'must not carry credentials', 'https://…@hooks.customer.com/'],
  ])('is used wrongly with the URL %s, and told why', async (wrong, why, shown = wrong) => {
    const args = ['webhook', 'add', '--organization', organizationId, '--url', wrong];
    const { exitCode, stdout, stderr } = await region.wallet(...args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^error: /);
    for (const part of [shown, why]) expect(stderr).toContain(part);
    expect(await list()).toEqual([]);
  });
});

it('webhook list tells state, kinds and secret of each, as a table or as JSON', async () => {
  const { webhookId } = await add();
  await region.wallet('webhook', 'disable', '--webhook', webhookId);
  const { stdout } = await region.wallet('webhook', 'list', '--organization', organizationId);
  const [heading, line] = stdout.split('\n');
  expect(heading).toMatch(/^WEBHOOK +STATE +KINDS +SECRET +ADDED +URL$/);
  expect(line).toMatch(new RegExp(`^${webhookId}  disabled: operator  all    1       \\S+Z  ${url}$`));
  expect(await list()).toMatchObject([{ webhookId, disabledReason: 'operator', secretVersion: 1 }]);
});

it('webhook list says that there is none', async () => {
  const printed = await region.wallet('webhook', 'list', '--organization', organizationId);
  expect(printed).toEqual({ exitCode: 0, stdout: '', stderr: `${organizationId} has no webhook.\n` });
});

describe('webhook secret and webhook rotate', () => {
  it('print the bare secret: the current one, and a new one that signs beside the old for 24 h', async () => {
    const { webhookId, secret } = await add();
    const shown = await region.wallet('webhook', 'secret', '--webhook', webhookId);
    expect(shown).toEqual({ exitCode: 0, stdout: `${secret}\n`, stderr: '' });

    const rotated = await region.wallet('webhook', 'rotate', '--webhook', webhookId);
    expect(rotated.stdout).toBe(`${await region.secret(webhookId, 2)}\n`);
    expect(rotated.stderr).toContain('both sign until');
    const after = await region.json('webhook', 'secret', '--webhook', webhookId);
    expect(after).toEqual({ webhookId, secret: await region.secret(webhookId, 2), secretVersion: 2 });
  });

  it('refuse a second rotation within 24 h unless it is asked for again', async () => {
    const { webhookId } = await add();
    await region.wallet('webhook', 'rotate', '--webhook', webhookId);
    const second = await region.wallet('webhook', 'rotate', '--webhook', webhookId);
    expect(second).toMatchObject({ exitCode: 1, stdout: '' });
    expect(second.stderr).toContain('--again');
    expect(await region.json('webhook', 'rotate', '--webhook', webhookId, '--again')).toEqual({
      webhookId,
      secret: await region.secret(webhookId, 3),
      secretVersion: 3,
      previousSignsUntil: expect.stringMatching(/Z$/),
    });
  });
});

it('webhook disable and webhook enable change what is delivered', async () => {
  const { webhookId } = await add();
  const disabled = await region.wallet('webhook', 'disable', '--webhook', webhookId);
  expect(disabled).toMatchObject({ exitCode: 0, stdout: `${webhookId} is disabled.\n` });
  expect(await region.json('webhook', 'enable', '--webhook', webhookId)).toEqual({
    webhookId,
    enabled: true,
    disabledReason: null,
  });
});

describe('webhook show and webhook update', () => {
  const show = (webhookId: string) => region.json('webhook', 'show', '--webhook', webhookId);

  it('print a webhook, and change its URL or its kinds alone', async () => {
    const { webhookId } = await add('--kinds', 'wallet.created');
    const before = {
      webhookId,
      organizationId,
      url,
      kinds: ['wallet.created'],
      enabled: true,
      secretVersion: 1,
    };
    expect(await show(webhookId)).toMatchObject(before);
    const { stdout } = await region.wallet('webhook', 'show', '--webhook', webhookId);
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['webhook', webhookId],
      ['organization', organizationId],
      ['url', url],
      ['kinds', 'wallet.created'],
      ['state', 'enabled'],
      ['secret', 'version 1'],
      ['added', expect.stringMatching(/Z$/)],
      [''],
    ]);

    const update = (...args: string[]) => region.json('webhook', 'update', '--webhook', webhookId, ...args);
    const moved = { ...before, url: `${url}/2` };
    expect(await update('--url', `${url}/2`)).toMatchObject(moved);
    expect(await update('--kinds', 'a,b')).toMatchObject({ ...moved, kinds: ['a', 'b'] });
    expect(await update('--all-kinds')).toMatchObject({ ...moved, kinds: null });
    expect(await show(webhookId)).toMatchObject({ ...moved, kinds: null });
  });

  it.each([
    ['nothing to change', []],
    ['two answers', ['--kinds', 'a', '--all-kinds']],
  ])('are used wrongly with %s', async (_, args) => {
    const { webhookId } = await add();
    const printed = await region.wallet('webhook', 'update', '--webhook', webhookId, ...args);
    expect(printed).toMatchObject({ exitCode: 2, stdout: '' });
  });
});

it('webhook disable tells the organization once, by an event of kind webhook.disabled', async () => {
  const { webhookId } = await add();
  const disable = () => region.json('webhook', 'disable', '--webhook', webhookId);
  const { disabledAt } = (await disable()) as { disabledAt: string };
  const [message, ...others] = await region.events.receive();
  expect(others).toEqual([]);
  expect(parseEvent(message?.body ?? '')).toMatchObject({ ok: true, value: { organizationId } });
  const data = { webhookId, reason: 'operator' };
  expect(JSON.parse(message?.body ?? '')).toMatchObject({ kind: 'webhook.disabled', date: disabledAt, data });
  const state = { webhookId, enabled: false, disabledReason: 'operator', disabledAt };
  expect(await disable()).toEqual(state);
  expect(await region.events.receive()).toEqual([]);
});

it('webhook remove removes one for good', async () => {
  const { webhookId } = await add();
  const removed = await region.wallet('webhook', 'remove', '--webhook', webhookId);
  expect(removed).toEqual({ exitCode: 0, stdout: `${webhookId} is removed.\n`, stderr: '' });
  expect(await list()).toEqual([]);
});

describe('what is named and does not exist is an error', () => {
  const absent = { webhook: newId('wh'), organization: newId('or'), group: newId('ug') };
  it.each([
    ...['show', 'secret', 'rotate', 'disable', 'enable', 'remove', 'test'].map((name) => ['webhook', name]),
    ['webhook', 'update', '--all-kinds'],
    ['deliveries'],
    ['redeliver', '--since', '1h'],
    ['redeliver', '--event', 'evt_1'],
  ])('of %s %s', async (...command) => {
    const printed = await region.wallet(...command, '--webhook', absent.webhook);
    expect(printed).toMatchObject({ exitCode: 1, stdout: '' });
    expect(printed.stderr).toContain(`There is no webhook ${absent.webhook} in environment ${first.name}`);
  });

  it.each([
    ['webhook', 'list'],
    ['webhook', 'add', '--url', url],
    ['send-event', '--kind', 'a'],
  ])('of %s %s', async (...command) => {
    const printed = await region.wallet(...command, '--organization', absent.organization);
    expect(printed).toMatchObject({ exitCode: 1, stdout: '' });
    expect(printed.stderr).toContain(`There is no organization ${absent.organization} in environment`);
    expect(await region.events.receive()).toEqual([]);
  });

  it.each<[string[], string]>([
    [['deliveries', '--event', 'evt_none'], 'No event evt_none is known in environment'],
    [['audit', '--group', absent.group], `There is no user group ${absent.group} in environment`],
    [['seed', '--organization', absent.organization], `${absent.organization} is not an organization of`],
  ])('of %j', async (command, message) => {
    const printed = await region.wallet(...command);
    expect(printed).toMatchObject({ exitCode: 1, stdout: '' });
    expect(printed.stderr).toContain(message);
  });
});

describe('webhook test', () => {
  /** What would deliver: takes the message, and writes its attempt down. */
  async function deliver(outcome: string, status: number) {
    for (;;) {
      const [message] = await region.deliveries.receive();
      if (!message) continue;
      const delivery = JSON.parse(message.body);
      await rows(
        region.owner,
        sql`
        insert into webhook_attempts
          (event_id, webhook_id, delivery_id, attempted_at, duration_ms, status, outcome, reason)
        values (${delivery.eventId}, ${delivery.webhookId}, ${delivery.deliveryId}, now(), 7, ${status}, ${outcome}, 'x')`,
      );
      return { delivery, read: parseDelivery(message.body), event: parseEvent(delivery.body) };
    }
  }

  it('sends an event of kind webhook.test to one webhook, whatever kinds it wants, and prints how it went', async () => {
    const { webhookId } = await add('--kinds', 'wallet.created');
    await add();
    const [printed, { delivery, read, event }] = await Promise.all([
      region.json<object>('webhook', 'test', '--webhook', webhookId),
      deliver('delivered', 204),
    ]);
    expect(read).toEqual({ ok: true, value: delivery });
    expect(event).toMatchObject({
      ok: true,
      value: { organizationId, kind: 'webhook.test', id: delivery.eventId },
    });
    expect(JSON.parse(delivery.body).data).toEqual({ webhookId });
    expect(delivery.eventId).toMatch(/^evt_test_[0-9a-f]{32}$/);
    const { eventId, deliveryId } = delivery;
    expect(printed).toMatchObject({ webhookId, eventId, deliveryId, outcome: 'delivered', status: 204 });
    expect(await region.deliveries.receive()).toEqual([]);
    expect(await region.events.receive()).toEqual([]);
  });

  it('fails when the receiver does, and when nothing is attempted in time', async () => {
    const { webhookId } = await add();
    const test = (...args: string[]) => region.wallet('webhook', 'test', '--webhook', webhookId, ...args);
    const [failed] = await Promise.all([test(), deliver('failed', 500)]);
    expect(failed).toMatchObject({ exitCode: 1, stdout: 'failed, answered 500 after 7 ms\n' });
    expect(failed.stderr).toContain('The receiver answered 500: failed, x.\nIt was reached, and failed');
    const late = await test('--timeout', '1s');
    expect(late).toMatchObject({ exitCode: 1, stdout: '' });
    expect(late.stderr).toContain('No delivery was attempted within 1 s.');
    await region.emptyQueues();
  });

  it('sends nothing to a disabled webhook, which would drop it', async () => {
    const { webhookId } = await add();
    await region.wallet('webhook', 'disable', '--webhook', webhookId);
    const printed = await region.wallet('webhook', 'test', '--webhook', webhookId);
    expect(printed).toMatchObject({ exitCode: 1, stdout: '' });
    expect(printed.stderr).toContain(`${webhookId} is disabled (operator)`);
    expect(await region.deliveries.receive()).toEqual([]);
  });
});

describe('deliveries', () => {
  const record = (
    eventId: string,
    webhookId: string,
    time: string,
    outcome = 'failed',
    next: string | null = null,
  ) =>
    rows(
      region.owner,
      sql`
      insert into webhook_attempts
        (event_id, webhook_id, delivery_id, attempted_at, duration_ms, status, outcome, reason, next_attempt_at)
      values (${eventId}, ${webhookId}, 'msg_1', ${time}::timestamptz, 12, 503, ${outcome}, 'server_error', ${next}::timestamptz)`,
    );

  it('prints the attempts of an event, the latest first, with the time of the next', async () => {
    const { webhookId } = await add();
    const eventId = `evt_${organizationId}`;
    const [former, latter] = ['2026-11-20T12:00:00.000Z', '2026-11-20T12:00:05.000Z'];
    await record(eventId, webhookId, former, 'failed', latter);
    await record(eventId, webhookId, latter, 'given_up');
    const common = {
      webhookId,
      eventId,
      deliveryId: 'msg_1',
      status: 503,
      durationMs: 12,
      reason: 'server_error',
    };
    expect(await region.json('deliveries', '--event', eventId)).toEqual([
      { ...common, date: latter, outcome: 'given_up', nextAttemptAt: null },
      { ...common, date: former, outcome: 'failed', nextAttemptAt: latter },
    ]);
    const { stdout } = await region.wallet('deliveries', '--event', eventId);
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['DATE', 'EVENT', 'WEBHOOK', 'STATUS', 'HTTP', 'REASON', 'TOOK', 'NEXT'],
      [latter, eventId, webhookId, 'given_up', '503', 'server_error', '12 ms'],
      [former, eventId, webhookId, 'failed', '503', 'server_error', '12 ms', latter],
      [''],
    ]);
  });

  it('prints those of a webhook, a status and a time, as many as are asked for', async () => {
    const { webhookId } = await add();
    const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    await record('evt_1', webhookId, ago(50));
    await record('evt_2', webhookId, ago(30), 'delivered');
    await record('evt_3', webhookId, ago(10));
    await record('evt_4', newId('wh'), ago(10));
    const listed = async (...args: string[]) =>
      (await region.json<{ eventId: string }[]>('deliveries', '--webhook', webhookId, ...args)).map(
        ({ eventId }) => eventId,
      );
    expect(await listed()).toEqual(['evt_3', 'evt_2', 'evt_1']);
    expect(await listed('--status', 'failed')).toEqual(['evt_3', 'evt_1']);
    expect(await listed('--since', '40m')).toEqual(['evt_3', 'evt_2']);
    expect(await listed('--since', ago(40), '--until', '20m')).toEqual(['evt_2']);
    expect(await listed('--limit', '1')).toEqual(['evt_3']);
    const { stderr } = await region.wallet('deliveries', '--webhook', webhookId, '--limit', '1');
    expect(stderr).toMatch(/^The latest 1\. Earlier ones: --until \S+Z\n$/);
  });

  it('prints those of all webhooks of a day when none is named', async () => {
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
    const { webhookId } = await add();
    await record('evt_old', webhookId, hoursAgo(25));
    await record('evt_new', webhookId, hoursAgo(23));
    const listed = await region.json<{ eventId: string }[]>('deliveries', '--limit', '1000');
    const ids = listed.map(({ eventId }) => eventId);
    expect(ids).toContain('evt_new');
    expect(ids).not.toContain('evt_old');
  });

  it('says that there are none yet', async () => {
    const { webhookId } = await add();
    const printed = await region.wallet('deliveries', '--webhook', webhookId);
    expect(printed).toMatchObject({ exitCode: 0, stdout: '' });
    expect(printed.stderr).toContain(`No such attempt is known in ${first.name}`);
    expect(await region.json('deliveries', '--webhook', webhookId)).toEqual([]);
  });
});
