import { compareOrigins, compareSource, sourceOf } from '../../cli/smoke';
import { openTarget } from '../../cli/target';
import { first } from '../support/rows';
import { type Answer, page, sentBatch, startAwsEndpoint } from './aws-endpoint';
import { OriginAccount } from './origin-account';
import { wallet } from './region';

const key = `arn:aws:kms:${first.region}:123456789012:key/one`;
const [address, reserve] = ['203.0.113.7', '203.0.113.8'];
let aws: Awaited<ReturnType<typeof startAwsEndpoint>>;
beforeAll(async () => {
  aws = await startAwsEndpoint((url) => ({
    [first.stackId]: {
      ApiBaseUrl: `${url}/`,
      OperationsFunctionName: 'operations',
      TokenSigningKeyArn: key,
      UserActionSigningKeyArn: key,
      WebhookSecretsKeyArn: key,
      WebhookOriginAddress: address,
      WebhookOriginReserveAddress: reserve,
      WebhookEventsQueueUrl: `https://sqs.${first.region}.amazonaws.com/123456789012/events`,
    },
  }));
});
afterAll(() => aws.close());
const target = () => openTarget({ environment: first.name, outputs: aws.outputs }, { note: () => undefined });

interface Report {
  readonly passed: boolean;
  readonly steps: readonly { name: string; outcome: string; detail: string; ms: number; remedy: string }[];
}

const json = (body: unknown, status = 200): Answer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
const operations: Readonly<Record<string, unknown>> = {
  seed: { organizationId: 'or-aaaaa-bbbbb-cccccccccccccccc', callerId: 'us-1', userGroupId: 'ug-1' },
  'add-webhook': { webhookId: 'wh-1', secretVersion: 1 },
  'list-delivery-attempts': { attempts: [] },
  'remove-ephemeral-organizations': { removed: ['or-aaaaa-bbbbb-cccccccccccccccc'] },
};

const run = (...args: string[]) => wallet('smoke', '--outputs', aws.outputs, '--allow-production', ...args);

/** Runs `smoke` on an environment that delivers nothing and signs nothing. */
async function smoke(...args: string[]) {
  aws.answer(({ url, headers, body }) => {
    if (url === '/webhook-origins') return page(200);
    if (url.includes('/invocations'))
      return json({ ok: true, result: operations[JSON.parse(String(body)).operation] });
    const results: Readonly<Record<string, unknown>> = {
      GenerateMac: { Mac: Buffer.alloc(32).toString('base64') },
      SendMessageBatch: sentBatch(body),
    };
    return json(results[String(headers['x-amz-target']).split('.')[1] ?? ''] ?? {});
  });
  const printed = await run('--json', ...args);
  const report = JSON.parse(printed.stdout) as Report;
  return { ...printed, ...report, outcomes: report.steps.map(({ outcome }) => outcome) };
}

it('reports every step and its prerequisites, and cleans up after a failure', async () => {
  const { exitCode, passed, steps, outcomes, stderr } = await smoke('--without-webhook');
  expect({ exitCode, passed }).toEqual({ exitCode: 1, passed: false });
  expect(outcomes).toEqual([
    'passed',
    'failed',
    'skipped',
    'skipped',
    'failed',
    ...Array<string>(6).fill('unchecked'),
    'passed',
  ]);
  expect(steps.at(-1)).toMatchObject({ name: 'clean up', detail: 'removed or-aaaaa-bbbbb-cccccccccccccccc' });
  expect(stderr).toContain(`${first.name}: 2 passed, 2 failed, 2 skipped, 6 unchecked, in `);
  expect(stderr).toContain('To "check GET /webhook-origins": A proxy or a network\'s sign-in page');
});

it('skips checks that need an external receiver', async () => {
  const { steps } = await smoke('--receiver-url', 'https://hooks.customer.com/wallet', '--timeout', '1s');
  const unchecked = steps.filter(({ outcome }) => outcome === 'unchecked').map(({ name }) => name);
  expect(unchecked).toEqual(['receive the delivery', 'verify its signature', 'check its source address']);
  expect(steps.find(({ name }) => name.includes('delivery log'))?.detail).toBe(
    'No delivery attempt within 1 s.',
  );
});

it('does not wait twice for a missing delivery', async () => {
  const receiver = ['--receiver-listen', '0', '--receiver-url', 'https://tunnel.customer.com/'];
  const { steps } = await smoke(...receiver, '--timeout', '100ms');
  const details = ['receive the delivery', 'find it in the delivery log'].map(
    (step) => steps.find(({ name }) => name === step)?.detail,
  );
  expect(details).toEqual(Array(2).fill('No delivery attempt within 0 s.'));
});

it.each([
  ['without a receiver that a deployed environment reaches', [], '--receiver-url'],
  ['with a port that nothing leads to', ['--receiver-listen', '8010'], '--receiver-url'],
  [
    'with a receiver and without webhooks',
    ['--receiver-url', 'https://a.customer.com/', '--without-webhook'],
    'not both',
  ],
  ['with a receiver that no delivery can reach', ['--receiver-url', 'http://a.customer.com/'], 'https://'],
])('reports a usage error %s, and does nothing', async (_, args, said) => {
  aws.answer(() => undefined);
  const printed = await run(...args);
  expect(printed).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(said) });
  expect(aws.requests).toEqual([]);
});

const right = { environment: first.name, addresses: [`${address}/32`], reserve: [`${reserve}/32`] };
it.each<[unknown, status: number, type: string, expected: string]>([
  [right, 200, 'application/json', `${address}/32, reserve ${reserve}/32`],
  ['<html>', 200, 'text/html', 'returned 200, text/html: <html>'],
  ['out of memory', 500, 'text/plain', 'returned 500, text/plain: out of memory'],
  [{ ...right, reserve: [] }, 200, 'application/json', '"reserve":[]'],
  [{ ...right, reserve: undefined }, 200, 'application/json', 'Expected 200 with'],
])('compares GET /webhook-origins: %j, %i', async (body, status, contentType, expected) => {
  const from = await target();
  let found = '';
  try {
    found = compareOrigins(from, { body, status, contentType });
  } catch (error) {
    found = (error as Error).message;
  }
  expect(found).toContain(expected);
});

it.each([
  [address, false, address],
  [reserve, true, `${reserve}, the reserve address, in use`],
  [reserve, false, `from ${reserve}, not from ${address}`],
  ['203.0.113.9', true, `from 203.0.113.9, not from ${address}`],
])('compares the source %s, with the reserve in use: %s', async (from, inUse, expected) => {
  const account = new OriginAccount(true);
  account.location.reserve = inUse ? 'yes' : 'no';
  account.intercept();
  const arrival = { method: 'POST', from, headers: {}, body: '' };
  const found = await compareSource(await target(), arrival).catch(({ message }) => message);
  jest.restoreAllMocks();
  expect(found).toContain(expected);
});

it.each([
  ['without a proxy: the peer', '203.0.113.7', undefined, '203.0.113.7'],
  ['behind a tunnel on this machine: its peer', '127.0.0.1', '203.0.113.7', '203.0.113.7'],
  ['behind two proxies: the last public address', '127.0.0.1', '203.0.113.7, 10.0.0.4', '203.0.113.7'],
  ['behind a network: its own, not what it claims', '127.0.0.1', '203.0.113.7, 198.51.100.9', '198.51.100.9'],
  ['on this machine', '127.0.0.1', 'unknown', '127.0.0.1'],
])('finds the source %s', (_, from, forwarded, expected) => {
  expect(sourceOf({ from, headers: { 'x-forwarded-for': forwarded } })).toBe(expected);
});
