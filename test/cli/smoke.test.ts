import type { ApiResponse } from '../../cli/api';
import { compareOrigins, compareSource } from '../../cli/smoke';
import { openTarget } from '../../cli/target';
import { writeOutputs } from '../support/outputs-file';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { acceptedBatch, operations, page, result, useAccount } from './account';
import { wallet } from './region';

const account = useAccount();
const folder = temporaryFolder();
const [address, reserve] = ['203.0.113.7', '203.0.113.8'];
const key = `arn:aws:kms:${first.region}:123456789012:key/one`;
const stack = () => ({
  ...{ ApiBaseUrl: `${account().url}/`, OperationsFunctionName: 'operations' },
  ...{ TokenSigningKeyArn: key, UserActionSigningKeyArn: key, WebhookSecretsKeyArn: key },
  ...{ WebhookOriginAddress: address, WebhookOriginReserveAddress: reserve },
  WebhookEventsQueueUrl: `https://sqs.${first.region}.amazonaws.com/123456789012/events`,
});
const outputs = () => writeOutputs(folder(), { [first.stackId]: stack() });
const target = () => openTarget({ environment: first.name, outputs: outputs() }, { note: () => undefined });
const organizationId = 'or-aaaaa-bbbbb-cccccccccccccccc';

const run = (...args: string[]) => wallet('smoke', '--outputs', outputs(), '--allow-production', ...args);

/** Runs `smoke` on an environment that delivers nothing and signs nothing. */
async function smoke(...args: string[]) {
  account().answer(acceptedBatch, {
    'api:GET /webhook-origins': () => page(200),
    'kms:GenerateMac': () => result({ Mac: Buffer.alloc(32).toString('base64') }),
    'kms:*': () => result({}),
    'lambda:Invoke': operations({
      seed: { organizationId, callerId: 'us-1', userGroupId: 'ug-1' },
      'add-webhook': { webhookId: 'wh-1', secretVersion: 1 },
      'list-delivery-attempts': { attempts: [] },
      'remove-ephemeral-organizations': { removed: [organizationId] },
    }),
  });
  const printed = await run('--json', ...args);
  const { passed, steps } = JSON.parse(printed.stdout) as {
    readonly passed: boolean;
    readonly steps: readonly { name: string; outcome: string; detail: string }[];
  };
  const detailOf = (step: string) => steps.find(({ name }) => name === step)?.detail;
  const named = (outcome: string) => steps.filter((step) => step.outcome === outcome).map(({ name }) => name);
  return { ...printed, passed, steps, detailOf, named };
}

it('reports every step and its prerequisites, and cleans up after a failure', async () => {
  const { exitCode, passed, steps, named, stderr } = await smoke('--without-webhook');
  expect({ exitCode, passed }).toEqual({ exitCode: 1, passed: false });
  expect(named('failed')).toEqual(['delete its group through the API', 'check GET /webhook-origins']);
  expect(named('skipped')).toEqual(['delete it again: expect 404', 'find the audit record']);
  expect(named('unchecked')).toHaveLength(6);
  expect(steps.at(-1)).toMatchObject({ name: 'clean up', detail: `removed ${organizationId}` });
  expect(stderr).toContain(`${first.name}: 2 passed, 2 failed, 2 skipped, 6 unchecked, in `);
  expect(stderr).toContain('To "check GET /webhook-origins": A proxy or a network\'s sign-in page');
});

it('does not wait twice for a missing delivery', async () => {
  const receiver = ['--receiver-listen', '0', '--receiver-url', 'https://tunnel.customer.com/'];
  const { detailOf } = await smoke(...receiver, '--timeout', '100ms');
  const details = ['receive the delivery', 'find it in the delivery log'].map(detailOf);
  expect(details).toEqual(Array(2).fill('No delivery attempt within 0 s.'));
});

it.each([
  ['without a receiver', [], '--receiver-url'],
  ['with a port but no public URL', ['--receiver-listen', '8010'], '--receiver-url'],
  ['with both', ['--receiver-url', 'https://a.customer.com/', '--without-webhook'], 'not both'],
  ['with a receiver that no delivery can reach', ['--receiver-url', 'http://a.customer.com/'], 'https://'],
])('reports a usage error %s, and does nothing', async (_, args, said) => {
  account().answer();
  const printed = await run(...args);
  expect(printed).toEqual({ exitCode: 2, stdout: '', stderr: expect.stringContaining(said) });
  expect(account().calls).toEqual([]);
});

const found = (compare: () => string) => {
  try {
    return compare();
  } catch (error) {
    return (error as Error).message;
  }
};
const right = { environment: first.name, addresses: [`${address}/32`], reserve: [`${reserve}/32`] };
const response = (body: unknown, status = 200, contentType = 'application/json'): ApiResponse => ({
  ...{ body, status, contentType },
});
it.each([
  [response(right), `${address}/32, reserve ${reserve}/32`],
  [response('out of memory', 500, 'text/plain'), 'returned 500, text/plain: out of memory'],
  [response({ ...right, reserve: [] }), '"reserve":[]'],
  [response({ ...right, reserve: undefined }), 'Expected 200 with'],
])('compares GET /webhook-origins: %j', async (answer, expected) => {
  const from = await target();
  expect(found(() => compareOrigins(from, answer))).toContain(expected);
});

it.each([
  ['without a proxy: the peer', address, undefined, address],
  ['the reserve', reserve, undefined, `${reserve}, the reserve address`],
  ['behind a tunnel on this machine: its peer', '127.0.0.1', address, address],
  ['behind two proxies: the last public address', '127.0.0.1', `${address}, 10.0.0.4`, address],
  ['a claim is not the source', '127.0.0.1', `${address}, 198.51.100.9`, 'came from 198.51.100.9, not from'],
  ['no public address', '127.0.0.1', 'unknown', 'came from 127.0.0.1, not from 203.0.113.7'],
])('compares the source: %s', async (_, from, forwarded, expected) => {
  const expecting = await target();
  const headers = { 'x-forwarded-for': forwarded };
  expect(found(() => compareSource(expecting, { from, headers }))).toContain(expected);
});
