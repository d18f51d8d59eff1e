import { parseRedelivery } from '../../../domain/event';
import { runWallet } from '../../support/wallet-command';
import { attempt, webhook } from '../every-command';
import { organizationId, result, useRegion, webhookId } from '../region';

const region = useRegion();

describe('send-event', () => {
  beforeEach(() => region.answer({ 'list-webhooks': () => result({ webhooks: [] }) }));
  const sendEvent = ['send-event', '--organization', organizationId, '--kind', 'wallet.created'];

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
  const listing = (...attempts: readonly object[]) =>
    region.answer({ 'list-delivery-attempts': () => result({ attempts }) });

  it('prints a block for each attempt on a narrow terminal', async () => {
    listing(attempt, attempt);
    const narrow = await runWallet(['deliveries', '--outputs', region.outputs], { columns: 80 });
    const [first, ...others] = narrow.stdout.split('\n\n');
    expect(first).toMatch(new RegExp(`^date     ${attempt.date}\nevent    evt_1\n.*\ntook     12 ms$`, 's'));
    expect(others).toHaveLength(1);
  });

  it.each([
    [
      ['--status', 'failed', '--since', '2026-11-20', '--until', '2026-11-21T00:00:00+01:00'],
      { outcome: 'failed', since: '2026-11-20T00:00:00.000Z', until: '2026-11-20T23:00:00.000Z' },
    ],
    [['--webhook', webhookId], { webhookId }],
    [['--event', 'evt_1'], { eventId: 'evt_1' }],
  ])('filters by %j', async (args, query) => {
    listing();
    await region.json('deliveries', ...args);
    expect(region.calls().map(({ input }) => input)).toEqual([{ ...query, limit: 100 }]);
  });
});

describe('redeliver', () => {
  const redeliver = (...args: string[]) => region.wallet('redeliver', '--webhook', webhookId, ...args);
  const ids = (count: number) => Array.from({ length: count }, (_, index) => `evt_${index}`);
  /** A region with this many stored events. */
  const storing = (count: number) =>
    region.answer({
      'describe-webhook': () => result(webhook),
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
    ['an event that is not available', ['--event', 'evt_1'], 1, 'Event evt_1 is not available'],
    ['event and time', ['--event', 'evt_1', '--since', '1h'], 2, '--event or --since'],
    ['an event, undelivered', ['--event', 'evt_1', '--undelivered'], 2, 'require --since'],
    ['an event until a time', ['--event', 'evt_1', '--until', '1h'], 2, 'require --since'],
    ['what is not stored any more', ['--since', '15d'], 2, 'The earliest: --since 14d'],
    ['an end before the start', ['--since', '1h', '--until', '2h'], 2, 'is before --since'],
  ])('refuses %s', async (_, args, exitCode, said) => {
    storing(0);
    const stderr = expect.stringContaining(said);
    expect(await redeliver(...args)).toEqual({ exitCode, stdout: '', stderr });
    expect(requested()).toEqual([]);
  });
});
