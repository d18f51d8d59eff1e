import { sql } from '../../../lambda/database/sql';
import { newId } from '../../../lambda/shared/ids';
import { isEventKind } from '../../../lambda/webhooks/event';
import { walletCommand } from '../../../lib/operations/pasted-command';
import { eventKind } from '../../../lib/operations/webhook/event-kind';
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
    expect(stderr).toContain(`${walletCommand('send-event', place)} `);
    expect(stderr).toContain(`--organization ${organizationId} --kind wallet.created --data '{}'`);
  });

  it.each([
    ['http://hooks.customer.com/', 'does not begin with https://.\nGive one such as https://'],
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
  expect(disabled).toEqual({ exitCode: 0, stdout: `${webhookId} is disabled.\n`, stderr: '' });
  expect(await region.json('webhook', 'enable', '--webhook', webhookId)).toEqual({
    webhookId,
    enabled: true,
    disabledReason: null,
  });
});

it.each(['secret', 'rotate', 'disable', 'enable'])(
  'webhook %s names a webhook that is not there',
  async (name) => {
    const webhookId = newId('wh');
    const printed = await region.wallet('webhook', name, '--webhook', webhookId);
    expect(printed).toMatchObject({ exitCode: 1, stdout: '' });
    expect(printed.stderr).toContain(`There is no webhook ${webhookId} in environment ${first.name}`);
  },
);

describe('deliveries', () => {
  it('prints the attempts of an event, with the time of the next', async () => {
    const { webhookId } = await add();
    await rows(
      region.owner,
      sql`
      insert into webhook_attempts
        (event_id, webhook_id, delivery_id, attempted_at, duration_ms, status, outcome, reason, next_attempt_at)
      values
        ('evt_1', ${webhookId}, 'msg_1', '2026-11-20T12:00:00Z', 12, 503, 'failed', 'server_error', '2026-11-20T12:00:05Z'),
        ('evt_1', ${webhookId}, 'msg_1', '2026-11-20T12:00:05Z', 3, null, 'given_up', 'connection_refused', null)`,
    );
    expect(await region.json('deliveries', '--event', 'evt_1')).toEqual([
      {
        date: '2026-11-20T12:00:00.000Z',
        webhookId,
        deliveryId: 'msg_1',
        status: 503,
        durationMs: 12,
        outcome: 'failed',
        reason: 'server_error',
        nextAttemptAt: '2026-11-20T12:00:05.000Z',
      },
      expect.objectContaining({ status: null, outcome: 'given_up', nextAttemptAt: null }),
    ]);
    const { stdout } = await region.wallet('deliveries', '--event', 'evt_1');
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toMatchObject([
      ['DATE', 'WEBHOOK', 'OUTCOME', 'STATUS', 'REASON', 'TOOK', 'NEXT'],
      [
        '2026-11-20T12:00:00.000Z',
        webhookId,
        'failed',
        '503',
        'server_error',
        '12 ms',
        '2026-11-20T12:00:05.000Z',
      ],
      ['2026-11-20T12:00:05.000Z', webhookId, 'given_up', '-', 'connection_refused', '3 ms'],
      [''],
    ]);
  });

  it('says what it may mean that there are none', async () => {
    const printed = await region.wallet('deliveries', '--event', 'evt_none');
    expect(printed).toMatchObject({ exitCode: 0, stdout: '' });
    expect(printed.stderr).toContain(`No attempt to deliver evt_none is known in ${first.name}`);
    expect(await region.json('deliveries', '--event', 'evt_none')).toEqual([]);
  });
});

it.each(['wallet.created', 'A', '0:a/b_c-d', 'a'.repeat(128), 'a'.repeat(129), '', '.a', 'a b', 'a,b', 'é'])(
  'the command line and the fan-out agree whether "%s" is a kind',
  (kind) => {
    const read = () => eventKind(kind);
    if (isEventKind(kind)) expect(read()).toBe(kind);
    else expect(read).toThrow('Give a kind such as wallet.created');
  },
);
