import { Webhook } from 'standardwebhooks';
import { type ReceiveCommand, startReceiveCommand } from '../../support/receive-command';
import { first } from '../../support/rows';
import { addOrganization, eventText } from '../../support/webhooks';
import { wallet } from '../region';
import { startWebhookRegion, type WebhookRegion } from './webhook-region';

jest.setTimeout(60_000);

let region: WebhookRegion;
let organizationId: string;
beforeAll(async () => {
  region = await startWebhookRegion();
  organizationId = await addOrganization(region.owner);
});
const running: ReceiveCommand[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((receive) => receive.end()));
});
afterAll(() => region.stop());

interface Posted {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function receive(...args: string[]) {
  const command = await startReceiveCommand('--outputs', region.outputs, ...args);
  running.push(command);
  return {
    ...command,
    /** Posts a delivery to it: its answer, and what it prints with `--json`. */
    async post({ headers = {}, body = '' }: Posted) {
      const { status } = await fetch(command.url, { method: 'POST', headers, body });
      return { status, report: JSON.parse(await command.next()) as Record<string, unknown> };
    },
  };
}

/** A delivery as the service sends it. */
function signed(secret: string, body = eventText(organizationId, 'evt_1'), at = new Date()): Posted {
  const signature = new Webhook(secret).sign('msg_1', at, body);
  return {
    body,
    headers: {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': signature,
      'x-svc-webhook-signature': signature,
      'svc-signature': signature,
    },
  };
}

const addWebhook = (url = 'http://127.0.0.1:1/') =>
  region.json<{ webhookId: string; secret: string }>(
    'webhook',
    'add',
    '--organization',
    organizationId,
    '--url',
    url,
  );
const foreignSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const without = (delivery: Posted, name: string): Posted => ({
  ...delivery,
  headers: Object.fromEntries(Object.entries(delivery.headers ?? {}).filter(([header]) => header !== name)),
});

it('verifies by the secrets of webhooks that are added later, and of later versions', async () => {
  const receiver = await receive('--json');
  const { webhookId, secret } = await addWebhook();
  const delivery = signed(secret);
  const { status, report } = await receiver.post(delivery);
  expect(status).toBe(204);
  expect(report).toEqual({
    date: expect.stringMatching(/Z$/),
    verified: true,
    reason: null,
    webhookId,
    secretVersion: 1,
    deliveryId: 'msg_1',
    arrivals: 1,
    eventId: 'evt_1',
    kind: 'wallet.created',
    ageMs: expect.any(Number),
    from: '127.0.0.1',
    headers: expect.objectContaining(delivery.headers ?? {}),
    body: delivery.body,
    answered: 204,
  });

  await region.wallet('webhook', 'rotate', '--webhook', webhookId);
  const rotated = signed(await region.secret(webhookId, 2));
  expect((await receiver.post(rotated)).report).toMatchObject({ secretVersion: 2, arrivals: 2 });
  expect((await receiver.post(signed(foreignSecret))).report).toMatchObject({
    verified: false,
    reason: 'webhook-signature: No matching signature found',
    answered: 401,
  });

  const { exitCode, stderr } = await receiver.end();
  expect(exitCode).toBe(0);
  expect(stderr).toContain('3 received, 2 of them verified.');
});

it('says why a delivery does not verify, and answers 401', async () => {
  const { secret } = await addWebhook();
  const receiver = await receive('--json');
  const good = signed(secret);
  const reason = async (delivery: Posted) => {
    const { status, report } = await receiver.post(delivery);
    expect({ status, verified: report.verified }).toEqual({ status: 401, verified: false });
    return report.reason;
  };
  expect(await reason({ ...good, body: `${good.body} ` })).toContain('No matching signature');
  expect(await reason(signed(secret, good.body, new Date(Date.now() - 301_000)))).toContain('too old');
  expect(await reason(signed(secret, good.body, new Date(Date.now() + 302_000)))).toContain('too new');
  expect(await reason(without(good, 'webhook-signature'))).toContain('Missing required headers');
  expect(await reason(without(good, 'svc-signature'))).toContain('svc-signature: Missing');
  expect(await reason(without(good, 'x-svc-webhook-signature'))).toContain('x-svc-webhook-signature');
  expect((await receiver.post(good)).status).toBe(204);
});

it('verifies by a secret that is given, without any environment', async () => {
  const receiver = await receive('--json', '--secret', foreignSecret, '--outputs', '/nowhere/outputs.json');
  expect((await receiver.post(signed(foreignSecret))).report).toMatchObject({
    verified: true,
    webhookId: null,
  });
});

it('prints for a person what arrived, without characters that a terminal would obey', async () => {
  const receiver = await receive('--secret', foreignSecret, '--respond', '503');
  const answer = fetch(receiver.url, { method: 'POST', ...signed(foreignSecret) });
  expect(await receiver.next()).toMatch(/^\d\d:\d\d:\d\d\.\d{3} {2}verified$/);
  expect(await receiver.next()).toMatch(
    /^ {2}webhook-id msg_1, from 127\.0\.0\.1, \d+\.\d\d s after the event, answered 503$/,
  );
  expect(await receiver.next()).toBe(`  ${eventText(organizationId, 'evt_1')}`);
  expect((await answer).status).toBe(503);

  await fetch(receiver.url, { method: 'POST', body: '\u{1b}[2J\u{9b}1m' });
  expect(await receiver.next()).toContain('NOT verified: webhook-signature: Missing required headers');
  expect(await receiver.next()).toContain('webhook-id missing');
  expect(await receiver.next()).toBe('  \\u001b[2J\\u009b1m');
});

it('outlives whatever is sent', async () => {
  const receiver = await receive('--json', '--secret', foreignSecret);
  expect((await receiver.post(signed(foreignSecret))).status).toBe(204);
  expect((await fetch(receiver.url)).status).toBe(405);
  const tooLarge = await fetch(receiver.url, { method: 'POST', body: 'x'.repeat(200_000) }).catch(() => null);
  expect([413, undefined]).toContain(tooLarge?.status);
  expect((await receiver.post(signed(foreignSecret))).report).toMatchObject({ arrivals: 2 });
  expect((await receiver.end('SIGTERM')).exitCode).toBe(0);
});

it('tells how to send it something: to itself here, through a public URL where it is deployed', async () => {
  const here = await receive();
  const local = await here.end();
  expect(local.stderr).toContain(`--outputs ${region.outputs} --organization or-… --url ${here.url}\n`);

  const away = await receive('--outputs', region.deployedOutputs);
  const { stderr } = await away.end();
  expect(stderr).toContain(`Environment ${first.name} is deployed and reaches public https URLs only`);
  expect(stderr).toContain(`--outputs ${region.deployedOutputs} --organization or-… --url https://…\n`);
});

it('names a port that is taken, and how to choose another', async () => {
  const { url } = await receive('--secret', foreignSecret);
  const { port } = new URL(url);
  const printed = await wallet('receive', '--secret', foreignSecret, '--port', port);
  expect(printed).toMatchObject({ exitCode: 1, stdout: '' });
  expect(printed.stderr).toContain(`Port ${port} cannot be listened on: it is taken by another program.`);
  expect(printed.stderr).toContain('--port');
});
