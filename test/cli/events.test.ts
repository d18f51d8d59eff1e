import { parseEvent, parseRedelivery } from '../../domain/event';
import { groupId, organizationId, result, useRegion, webhookId } from './region';

const region = useRegion();

describe('send-event', () => {
  const listing = (...webhooks: readonly object[]) =>
    region.answer({ 'list-webhooks': () => result({ webhooks }) });
  const sendEvent = ['send-event', '--organization', organizationId, '--kind', 'wallet.created'];

  it('puts an event on the queue and prints its id', async () => {
    listing({ enabled: true, kinds: null });
    const data = '{"wei": 12345678901234567890}';
    const { stdout, stderr } = await region.wallet(...sendEvent, '--data', ` ${data} `);
    const id = stdout.trim();
    expect(stderr).toMatch(new RegExp(`^Its deliveries: \\S+ deliveries --event ${id} `));
    const [event] = region.messages();
    expect(event).toMatchObject({ queue: 'events', group: organizationId });
    expect(parseEvent(event?.body ?? '')).toMatchObject({ ok: true, value: { id, organizationId } });
    expect(event?.body).toContain(`,"data":${data}}`);
  });

  it.each([[[]], [[{ enabled: false, kinds: null }]], [[{ enabled: true, kinds: ['key.created'] }]]])(
    'reports that no webhook of %j gets the event',
    async (webhooks) => {
      listing(...webhooks);
      expect((await region.wallet(...sendEvent)).stderr).toContain('nothing will be delivered');
    },
  );

  it.each([
    [`"${'x'.repeat(65_536)}"`, /error: The event has \d+ bytes/],
    ['{"a":1,"a":2}', /duplicate names/],
    ['1,"kind":"b"', /Give JSON/],
  ])('refuses data that the fan-out would refuse: %.20s', async (data, message) => {
    listing();
    const { exitCode, stderr } = await region.wallet(...sendEvent, '--data', data);
    expect({ exitCode, sent: region.messages() }).toEqual({ exitCode: 2, sent: [] });
    expect(stderr).toMatch(message);
  });
});

describe('deliveries', () => {
  const [former, latter] = ['2026-11-20T12:00:00.000Z', '2026-11-20T12:00:05.000Z'];
  const attempt = {
    ...{ date: former, eventId: 'evt_1', webhookId, deliveryId: 'msg_1', status: 503, durationMs: 12 },
    ...{ outcome: 'failed', reason: 'server_error', nextAttemptAt: latter },
  };
  const listing = (...attempts: readonly object[]) =>
    region.answer({ 'list-delivery-attempts': () => result({ attempts }) });

  it('prints attempts as a table and as a JSON array', async () => {
    const last = { ...attempt, date: latter, outcome: 'given_up', status: null, nextAttemptAt: null };
    listing(last, attempt);
    const { stdout } = await region.wallet('deliveries', '--event', 'evt_1');
    const [, ...lines] = stdout.trim().split('\n');
    expect(lines.map((line) => line.split(/ {2,}/))).toEqual([
      [latter, 'evt_1', webhookId, 'given_up', '-', 'server_error', '12 ms'],
      [former, 'evt_1', webhookId, 'failed', '503', 'server_error', '12 ms', latter],
    ]);
    expect(await region.json('deliveries', '--event', 'evt_1')).toEqual([last, attempt]);
    listing(...Array(100).fill(attempt));
    const { stderr } = await region.wallet('deliveries');
    expect(stderr).toBe(`The latest 100. Earlier ones: --until ${former}\n`);
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
    const hours = (Date.now() - Date.parse(recent?.since ?? '')) / 3_600_000;
    expect(Math.round(hours)).toBe(24);
  });
});

describe('redeliver', () => {
  const redeliver = (...args: string[]) => region.wallet('redeliver', '--webhook', webhookId, ...args);
  /** A region with this many stored events, and the requested pages. */
  function storing(count: number, webhook: object = { webhookId, enabled: true }) {
    const ids = Array.from({ length: count }, (_, index) => `evt_${index}`);
    const stored = ids.map((eventId) => ({ eventId, acceptedAt: '2026-11-20T12:00:00.000Z' }));
    region.answer({
      'describe-webhook': () => result(webhook),
      'list-stored-events': ({ after, limit }) => {
        const start = after ? ids.indexOf(after) + 1 : 0;
        return result({ events: stored.slice(start, start + limit) });
      },
    });
    return ids;
  }
  const requested = () =>
    region.messages().map(({ body, ...place }) => {
      expect(place).toEqual({ queue: 'events', group: webhookId });
      const parsed = parseRedelivery(body);
      if (!parsed?.ok) throw new Error(`Not a redelivery: ${body}`);
      expect(parsed.value.webhookId).toBe(webhookId);
      return parsed.value.eventId;
    });

  it('requests each event once, for any number of pages', async () => {
    const ids = storing(2_005);
    const { stdout } = await redeliver('--since', '2h', '--json');
    expect(JSON.parse(stdout)).toEqual({ redelivered: 2_005, dryRun: false });
    expect(requested()).toEqual(ids);
  });

  it.each([
    [['--event', 'evt_0'], { eventId: 'evt_0', undelivered: false }, 'Redelivered 1.\n', ['evt_0']],
    [['--since', '1h', '--undelivered'], { undelivered: true }, 'Redelivered 1.\n', ['evt_0']],
    [['--since', '1h', '--dry-run'], { undelivered: false }, 'Would redeliver 1.\n', []],
  ])('asks for the events of %j', async (args, input, stdout, sent) => {
    storing(1);
    expect(await redeliver(...args)).toEqual({ exitCode: 0, stdout, stderr: '' });
    expect(region.calls().at(-1)?.input).toMatchObject(input);
    expect(requested()).toEqual(sent);
  });

  it.each([
    ['an event that is not available', ['--event', 'evt_1'], {}, 1, 'Event evt_1 is not available'],
    ['a disabled webhook', ['--event', 'evt_1'], { enabled: false }, 1, 'webhook enable'],
    ['neither event nor time', [], {}, 2, '--event or --since'],
    ['event and time', ['--event', 'evt_1', '--since', '1h'], {}, 2, '--event or --since'],
    ['an event, undelivered', ['--event', 'evt_1', '--undelivered'], {}, 2, 'requires --since'],
  ])('refuses %s', async (_, args, state, exitCode, said) => {
    storing(0, { webhookId, enabled: true, ...state });
    const stderr = expect.stringContaining(said);
    expect(await redeliver(...args)).toEqual({ exitCode, stdout: '', stderr });
    expect(requested()).toEqual([]);
  });
});

it('audit prints records as a table and as a JSON array', async () => {
  const row = {
    date: 'today',
    operation: 'delete',
    outcome: 'deleted',
    identityId: 'us-1',
    requestId: 'one',
  };
  const records = [{ ...row, subjectName: 'Approvers' }];
  region.answer({ 'list-audit-records': () => result({ records }) });
  const { stdout } = await region.wallet('audit', '--group', groupId);
  expect(stdout).toBe('DATE   OPERATION  OUTCOME  BY    REQUEST\ntoday  delete     deleted  us-1  one\n');
  expect(await region.json('audit', '--group', groupId)).toEqual(records);
  expect(region.calls()[0]).toEqual({ operation: 'list-audit-records', input: { userGroupId: groupId } });
});
