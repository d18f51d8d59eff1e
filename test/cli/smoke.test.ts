import { openTarget } from '../../cli/shell/target';
import { compareOrigins } from '../../cli/smoke';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { writeOutputs } from '../support/wallet-command';
import { acceptedBatch, operations, page, result, useAccount } from './account';
import { useInstantWaits } from './instant-waits';
import { groupId, result as operationResult, organizationId, useRegion, wallet } from './region';

useInstantWaits();
const account = useAccount();
const region = useRegion();
const folder = temporaryFolder();
const [address, reserve] = ['203.0.113.7', '203.0.113.8'];
const key = `arn:aws:kms:${first.region}:123456789012:key/one`;
const outputs = () => {
  const stack = {
    ...{ ApiBaseUrl: `${account().url}/`, OperationsFunctionName: 'operations' },
    ...{ TokenSigningKeyArn: key, UserActionSigningKeyArn: key, WebhookSecretsKeyArn: key },
    ...{ WebhookOriginAddress: address, WebhookOriginReserveAddress: reserve },
    WebhookEventsQueueUrl: `https://sqs.${first.region}.amazonaws.com/123456789012/events`,
  };
  return writeOutputs(folder(), { [first.stackId]: stack });
};

const run = (...args: string[]) => wallet('smoke', '--outputs', outputs(), '--allow-production', ...args);

let attempts: object[] = [];
beforeEach(() => {
  attempts = [];
});

/** Runs `smoke` on an environment that delivers nothing and signs nothing. */
async function smoke(...args: string[]) {
  account().answer(acceptedBatch, {
    'api:GET /webhook-origins': () => page(200),
    'kms:GenerateMac': () => result({ Mac: Buffer.alloc(32).toString('base64') }),
    'kms:*': () => result({}),
    'lambda:Invoke': operations({
      seed: { organizationId, callerId: 'us-1', userGroupId: 'ug-1' },
      'add-webhook': { webhookId: 'wh-1', url: 'https://api.customer.com/' },
      'list-delivery-attempts': { attempts },
      'remove-ephemeral-organizations': { removed: [organizationId] },
    }),
  });
  const { exitCode, stdout, stderr } = await run('--json', ...args);
  const { passed, steps } = JSON.parse(stdout);
  const outcomes = steps.map(({ name, outcome }: Record<string, string>) => `${outcome}: ${name}`);
  return { exitCode, stderr, passed, steps, outcomes };
}

it('reports every step and its prerequisites, and cleans up after a failure', async () => {
  const { exitCode, passed, steps, outcomes, stderr } = await smoke('--without-webhook');
  expect({ exitCode, passed }).toEqual({ exitCode: 1, passed: false });
  expect(outcomes.slice(0, 5)).toEqual([
    'passed: create an ephemeral organization',
    'failed: delete its group through the API',
    'skipped: delete it again: expect 404',
    'skipped: find the audit record',
    'failed: check GET /webhook-origins',
  ]);
  expect(steps.at(-1)).toMatchObject({ name: 'clean up', detail: `removed ${organizationId}` });
  expect(stderr).toContain(`${first.name}: 2 passed, 2 failed, 2 skipped, 6 unchecked, in `);
  expect(stderr).toContain('To "check GET /webhook-origins": A proxy or a network\'s sign-in page');
});

it.each([
  ['of its deletion', 'passed', {}],
  ["of another caller's deletion", 'failed', { identityId: 'us-2' }],
  ['of another outcome', 'failed', { outcome: 'user_group_not_found' }],
])('an audit record %s: the step %s', async (_, outcome, change) => {
  const deletions = [
    { status: 200, body: '{}' },
    { status: 404, body: '{"code":"user_group_not_found"}' },
  ];
  const headers = { 'content-type': 'application/json' };
  const record = { operation: 'Auth:UserGroups:Delete', outcome: 'deleted', identityId: 'us-1', ...change };
  region.answer(
    {
      seed: () => operationResult({ organizationId, callerId: 'us-1', userGroupId: groupId }),
      'list-audit-records': () => operationResult({ records: [record] }),
      'remove-ephemeral-organizations': () => operationResult({ removed: [organizationId] }),
    },
    { [`api:DELETE /auth/user-groups/${groupId}`]: () => ({ headers, ...deletions.shift() }) },
  );
  const { stdout } = await region.wallet('smoke', '--without-webhook', '--json');
  expect(JSON.parse(stdout).steps).toContainEqual(
    expect.objectContaining({ name: 'find the audit record', outcome }),
  );
});

it('has not passed when Ctrl-C ended it, and cleans up', async () => {
  region.answer({
    seed: () => {
      process.emit('SIGINT');
      return operationResult({ organizationId, callerId: 'us-1', userGroupId: groupId });
    },
    'remove-ephemeral-organizations': () => operationResult({ removed: [organizationId] }),
  });
  const { exitCode, stdout } = await region.wallet('smoke', '--without-webhook', '--json');
  const { passed, steps } = JSON.parse(stdout);
  expect({ exitCode, passed }).toEqual({ exitCode: 1, passed: false });
  expect(steps.map(({ outcome }: Record<string, string>) => outcome)).not.toContain('failed');
  expect(steps.at(-1)).toMatchObject({ name: 'clean up', outcome: 'passed' });
});

it('reports a delivery that is missing, and skips what depends on it', async () => {
  const { outcomes, steps } = await smoke();
  const missing = { outcome: 'failed', detail: 'No delivery attempt within 120 s.' };
  expect(steps).toContainEqual(expect.objectContaining({ name: 'find it in the delivery log', ...missing }));
  expect(outcomes).toContain('skipped: receive the delivery');
});

it.each([
  [204, 'passed', 'passed', 'passed'],
  [403, 'passed', 'failed', 'skipped'],
  [401, 'passed', 'passed', 'failed'],
  [null, 'failed', 'skipped', 'skipped'],
])(
  'reads status %s of its own receiver as arrival %s, source %s, signature %s',
  async (status, ...expected) => {
    const outcome = status === 204 ? 'delivered' : 'given_up';
    attempts = [{ outcome, status, reason: 'ok', durationMs: 12 }];
    const { outcomes } = await smoke();
    const names = ['receive the delivery', 'check its source address', 'verify its signature'];
    expect(outcomes).toEqual(
      expect.arrayContaining(names.map((name, index) => `${expected[index]}: ${name}`)),
    );
  },
);

it('leaves to a receiver of the operator what only that sees', async () => {
  attempts = [{ outcome: 'delivered', status: 200, reason: 'ok', durationMs: 12 }];
  const { outcomes } = await smoke('--receiver-url', 'https://hooks.customer.com/');
  const unchecked = outcomes.filter((each: string) => each.startsWith('unchecked'));
  expect([outcomes.includes('passed: find it in the delivery log'), unchecked.length]).toEqual([true, 3]);
});

it.each([
  ['with both', ['--receiver-url', 'https://a.customer.com/', '--without-webhook'], 'not both'],
  ['with a receiver that no delivery can reach', ['--receiver-url', 'http://a.customer.com/'], 'https://'],
])('reports a usage error %s, and does nothing', async (_, args, said) => {
  account().answer();
  const printed = await run(...args);
  expect(printed).toEqual({ exitCode: 2, stdout: '', stderr: expect.stringContaining(said) });
  expect(account().calls).toEqual([]);
});

it('compares the reserve address of GET /webhook-origins', async () => {
  const options = { environment: first.name, outputs: outputs() };
  const target = await openTarget(options, { note: () => undefined });
  const body = { environment: first.name, addresses: [`${address}/32`], reserve: [] };
  expect(() => compareOrigins(target, { body, status: 200, contentType: null })).toThrow('"reserve":[]');
});
