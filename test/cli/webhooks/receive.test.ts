import { Webhook } from 'standardwebhooks';
import { runCommandLine } from '../../../cli/command-line';
import { newId } from '../../../domain/ids';
import { eventually } from '../../support/eventually';
import { first } from '../../support/rows';
import { temporaryFolder } from '../../support/temporary-folder';
import { silent, writeOutputs } from '../../support/wallet-command';
import { eventText } from '../../support/webhooks';
import { macs, result, useAccount } from '../account';
import { organizationId, webhookId } from '../region';

/** Of the webhook's versions 1 and 2: as commands print them, in the snapshot of their outputs. */
const secrets = [
  'whsec_lf9C2XXi6JdD8DyLSIW+qdyVdgjuwHZ47uIO45FoW4M=',
  'whsec_aJbg66gr6GHGEjY5VCN6ZRfG2OhzSRgDolpIFKRcKWI=',
] as const;
const account = useAccount();
const folder = temporaryFolder();

let ended: Promise<number>;
/** Closes the output, as a closed terminal does. */
afterEach(async () => {
  process.emit('SIGHUP', 'SIGHUP');
  expect(await ended).toBe(0);
});

async function receive(...args: string[]) {
  const results: string[] = [];
  const notes: string[] = [];
  const terminal = {
    ...silent,
    result: (text: string) => void results.push(text),
    note: (text: string) => void notes.push(text),
  };
  const { url: service } = account();
  const deployed = { OperationsFunctionName: 'operations', WebhookSecretsKeyArn: 'secrets' };
  const stacks = { [first.stackId]: deployed };
  const outputs = writeOutputs(folder(), stacks, { kms: service, lambda: service });
  ended = runCommandLine(['receive', '--outputs', outputs, '--port', '0', ...args], terminal);
  await eventually(() => notes.length > 0);
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+\//.exec(notes.join()) ?? [];
  /** Posts a delivery: the response's status, and what is printed. */
  return async (delivery: RequestInit) => {
    const { status } = await fetch(url, { method: 'POST', ...delivery });
    return { status, printed: results.splice(0).join('\n') };
  };
}

const body = eventText(organizationId, 'evt_1');

/** A delivery as the service sends it. */
function signed(by: string, at = new Date()) {
  const signature = new Webhook(by).sign('msg_1', at, body);
  const headers: Record<string, string> = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
  };
  for (const prefix of ['webhook', 'x-svc-webhook', 'svc']) headers[`${prefix}-signature`] = signature;
  return { body, headers };
}

const listing = (...webhooks: object[]) =>
  account().answer({
    'lambda:Invoke': ({ input }) => result({ ok: input.operation === 'list-webhooks', result: { webhooks } }),
    ...macs,
  });

it('verifies with the secrets of webhooks that are added or rotated later; prints why another delivery does not, and keeps running', async () => {
  listing();
  const post = await receive('--json');
  const unknown = await post(signed(secrets[0]));
  expect(JSON.parse(unknown.printed)).toMatchObject({ reason: 'the organization has no webhooks' });
  for (const [index, secret] of secrets.entries()) {
    const secretVersion = index + 1;
    listing({ webhookId: newId('wh'), secretVersion: 1 }, { webhookId, secretVersion });
    const delivery = signed(secret);
    const { status, printed } = await post(delivery);
    expect(status).toBe(204);
    expect(JSON.parse(printed)).toEqual({
      date: expect.stringMatching(/Z$/),
      verified: true,
      reason: null,
      webhookId,
      secretVersion,
      deliveryId: 'msg_1',
      eventId: 'evt_1',
      kind: 'wallet.created',
      from: '127.0.0.1',
      answered: 204,
      ...delivery,
    });
  }

  const [, secret] = secrets;
  const good = signed(secret);
  for (const [reason, delivery] of [
    ['No matching signature', { ...good, body: `${body} ` }],
    ['too old', signed(secret, new Date(Date.now() - 301_000))],
    ['svc-signature: Missing', { ...good, headers: { ...good.headers, 'svc-signature': '' } }],
  ] as const) {
    const { status, printed } = await post(delivery);
    expect(status).toBe(401);
    expect(JSON.parse(printed)).toMatchObject({ verified: false, reason: expect.stringContaining(reason) });
  }
  expect(await post({ ...good, method: 'PUT' })).toEqual({ status: 405, printed: '' });
  expect((await post(good)).status).toBe(204);
});

it('prints deliveries, and responds with the status of --respond', async () => {
  listing({ webhookId, secretVersion: 1 });
  const post = await receive('--respond', '503');
  const { status, printed } = await post(signed(secrets[0]));
  expect(status).toBe(503);
  expect(printed).toMatch(/^[\d:.]{12} {2}verified with secret 1 of wh-.*\n.* msg_1, answered 503\n/);
  expect(printed).toContain(body);
});
