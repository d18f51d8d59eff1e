import { parseEvent, parseRedelivery } from '../../../domain/event';
import { runWallet } from '../../support/wallet-command';
import { groupId, organizationId, result, useRegion, webhookId } from '../region';

const region = useRegion();

describe('send-event', () => {
  beforeEach(() => region.answer({ 'list-webhooks': () => result({ webhooks: [] }) }));
  const sendEvent = ['send-event', '--organization', organizationId, '--kind', 'wallet.created'];

  it('puts an event on the queue and prints its id', async () => {
    const data = '{"wei": 12345678901234567890}';
    const { stdout, stderr } = await region.wallet(...sendEvent, '--data', ` ${data} `);
    const id = stdout.trim();
    expect(stderr).toMatch(
      RegExp(
        `^Many parsers read the number at data.wei as 12345678901234567000: .*\n.*nothing will be delivered.\nIts deliveries: .* deliveries --event ${id} `,
      ),
    );
    const [event] = region.messages();
    expect(event).toMatchObject({ queue: 'events', group: organizationId });
    expect(parseEvent(event?.body ?? '')).toMatchObject({ ok: true, value: { id, organizationId } });
    expect(event?.body).toContain(`,"data":${data}}`);
  });

  it('with --dry-run sends nothing, and warns of what parsers read differently', async () => {
    const data = '{"btc":1,"BTC":[1.0,0.1,1e22,9007199254740992],"wei":9007199254740993,"tiny":1e-400}';
    const { stdout, stderr } = await region.wallet(...sendEvent, '--dry-run', '--data', data);
    expect([stdout.endsWith(`,"data":${data}}\n`), region.messages()]).toEqual([true, []]);
    expect(stderr.split('\n')).toEqual([
      'Some parsers take data.BTC for a member whose name differs only in case.',
      'Many parsers read the number at data.wei as 9007199254740992: write it as a string.',
      'Many parsers read the number at data.tiny as 0: write it as a string.',
      'The event would be accepted. Nothing was sent.',
      '',
    ]);
  });

  it.each([
    ['too long', '--data', `"${'x'.repeat(65_536)}"`, /error: The event has \d+ bytes/],
    [
      'too deep',
      '--data',
      '['.repeat(102) + ']'.repeat(102),
      /contains more than 100 levels of .* at data\[0\]/,
    ],
    [
      'with duplicate names',
      '--data',
      '{"a":{"b":1,"b":2}}',
      /contains duplicate names at data\.a\.b: .*\. Use each name once\./,
    ],
    ['that PostgreSQL refuses', '--data', String.raw`[{"memo":"a\u0000"}]`, /U\+0000 at data\[0\]\.memo/],
    ['of a reserved kind', '--kind', 'webhook.disabled', /are reserved/],
  ])('refuses an event %s, as the fan-out would', async (_, option, value, message) => {
    const { exitCode, stderr } = await region.wallet(...sendEvent, option, value);
    expect({ exitCode, sent: region.messages() }).toEqual({ exitCode: 2, sent: [] });
    expect(stderr).toMatch(message);
  });
});

describe('deliveries', () => {
  const date = '2026-11-20T12:00:00.000Z';
  const attempt = {
    ...{ date, eventId: 'evt_1', webhookId, deliveryId: 'msg_1', series: '', attempt: 24 },
    ...{ outcome: 'given_up', status: null },
    ...{ reason: 'server_error', durationMs: 12, nextAttemptAt: null },
  };
  const listing = (...attempts: readonly object[]) =>
    region.answer({ 'list-delivery-attempts': () => result({ attempts }) });

  it('prints attempts as a JSON array, or as a table with how to read on', async () => {
    listing(attempt);
    expect(await region.json('deliveries')).toEqual([attempt]);
    listing(...Array(100).fill(attempt));
    const { stdout, stderr } = await region.wallet('deliveries');
    expect(stdout).toContain(
      `${date}  evt_1  ${webhookId}  -       24       given_up  -     server_error  12 ms\n`,
    );
    expect(stderr).toBe(`The latest 100. Earlier ones: --until ${date}\n`);
    const narrow = await runWallet(['deliveries', '--outputs', region.outputs], { columns: 80 });
    const [first] = narrow.stdout.split('\n\n');
    expect(first).toMatch(new RegExp(`^date     ${date}\nevent    evt_1\n.*\ntook     12 ms$`, 's'));
  });

  it('filters; defaults to the last day without an event or a webhook', async () => {
    listing();
    const filters = ['--webhook', webhookId, '--status', 'failed'];
    const times = ['--since', '2026-11-20', '--until', '2026-11-21T00:00:00+01:00'];
    await region.json('deliveries', ...filters, ...times);
    await region.json('deliveries');
    const [filtered, recent] = region.calls().map(({ input }) => input as { since: string });
    expect(filtered).toEqual({
      ...{ webhookId, outcome: 'failed', limit: 100 },
      ...{ since: '2026-11-20T00:00:00.000Z', until: '2026-11-20T23:00:00.000Z' },
    });
    expect(Math.round((Date.now() - Date.parse(recent?.since ?? '')) / 3_600_000)).toBe(24);
  });
});

describe('redeliver', () => {
  const redeliver = (...args: string[]) => region.wallet('redeliver', '--webhook', webhookId, ...args);
  const ids = (count: number) => Array.from({ length: count }, (_, index) => `evt_${index}`);
  /** A region with this many stored events. */
  const storing = (count: number, webhook: object = {}) =>
    region.answer({
      'describe-webhook': () => result({ webhookId, enabled: true, ...webhook }),
      'list-stored-events': ({ after, limit }) => {
        const start = ids(count).indexOf(after) + 1;
        const events = ids(count).map((eventId, index) => ({
          ...{ eventId, acceptedAt: '2026-11-20T12:00:00.000Z', delivered: index % 2 === 0 },
        }));
        return result({ events: events.slice(start, start + limit) });
      },
    });
  const requested = () =>
    region.messages().map(({ body, ...place }) => {
      expect(place).toEqual({ queue: 'events', group: webhookId });
      const parsed = parseRedelivery(body);
      expect(parsed).toMatchObject({ ok: true, value: { webhookId } });
      return parsed?.ok && parsed.value.eventId;
    });

  it('requests each event once, for any number of pages', async () => {
    storing(1_001);
    const { stdout } = await redeliver('--since', '2h', '--json');
    expect(JSON.parse(stdout)).toEqual({ redelivered: 1_001, delivered: 501, dryRun: false });
    expect(requested()).toEqual(ids(1_001));
  });

  it.each([
    [['--event', 'evt_0'], { eventId: 'evt_0', undelivered: false }, 'Redelivered 1', ['evt_0']],
    [['--since', '14d', '--undelivered'], { undelivered: true }, 'Redelivered 1', ['evt_0']],
    [['--since', '1h', '--dry-run'], { undelivered: false }, 'Would redeliver 1', []],
    [
      ['--since', '2h', '--until', '2099-01-01'],
      { until: '2099-01-01T00:00:00.000Z' },
      'Redelivered 1',
      ['evt_0'],
    ],
  ])('asks for the events of %j', async (args, input, said, sent) => {
    storing(1);
    const stdout = `${said}, of which 1 had been delivered.\n`;
    expect(await redeliver(...args)).toEqual({ exitCode: 0, stdout, stderr: '' });
    expect(region.calls().at(-1)?.input).toMatchObject(input);
    expect(requested()).toEqual(sent);
  });

  it.each([
    ['an event that is not available', ['--event', 'evt_1'], {}, 1, 'Event evt_1 is not available'],
    ['a disabled webhook', ['--event', 'evt_1'], { enabled: false }, 1, 'webhook enable'],
    ['event and time', ['--event', 'evt_1', '--since', '1h'], {}, 2, '--event or --since'],
    ['an event, undelivered', ['--event', 'evt_1', '--undelivered'], {}, 2, 'require --since'],
    ['an event until a time', ['--event', 'evt_1', '--until', '1h'], {}, 2, 'require --since'],
    ['what is not stored any more', ['--since', '15d'], {}, 2, 'The earliest: --since 14d'],
    ['an end before the start', ['--since', '1h', '--until', '2h'], {}, 2, 'is before --since'],
  ])('refuses %s', async (_, args, state, exitCode, said) => {
    storing(0, state);
    const stderr = expect.stringContaining(said);
    expect(await redeliver(...args)).toEqual({ exitCode, stdout: '', stderr });
    expect(requested()).toEqual([]);
  });
});

it('audit prints records as a table and as a JSON array', async () => {
  const row = { date: 'today', operation: 'delete', outcome: 'deleted', identityId: 'us', requestId: 'one' };
  region.answer({ 'list-audit-records': () => result({ records: [row] }) });
  expect(await region.json('audit', '--group', groupId)).toEqual([row]);
  const { stdout } = await region.wallet('audit', '--group', groupId);
  expect(stdout).toMatch(/\ntoday +delete +deleted +us +one\n$/);
  expect(region.calls()[0]).toEqual({ operation: 'list-audit-records', input: { userGroupId: groupId } });
});
