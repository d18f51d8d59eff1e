import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { first } from '../support/rows';
import type { Replies } from './account';
import { useInstantWaits } from './instant-waits';
import { groupId, identityId, organizationId, result, useRegion, wallet, webhookId } from './region';

useInstantWaits();
const region = useRegion();

const ids = { organizationId, callerId: identityId, userGroupId: groupId };
const record = { operation: 'Auth:UserGroups:Delete', outcome: 'deleted', identityId };
const headers = { 'content-type': 'application/json' };
const origins = { environment: first.name, addresses: ['127.0.0.1/32'] };
const deletion = `api:DELETE /auth/user-groups/${groupId}`;
const attempting = (outcome: string, status: number | null) => ({
  'list-delivery-attempts': () => result({ attempts: [{ outcome, status, reason: 'ok', durationMs: 12 }] }),
});

/** Runs `smoke` on an environment where everything works, but for these operations and replies: its steps, by name. */
async function smoke(
  operations: Parameters<typeof region.answer>[0] = {},
  replies: Replies = {},
  outputs = region.outputs,
) {
  const deletions = [{ body: '{}' }, { status: 404, body: '{"code":"user_group_not_found"}' }];
  const working = {
    seed: () => result(ids),
    'list-audit-records': () => result({ records: [record] }),
    'add-webhook': () => result({ webhookId, url: 'https://api.customer.com/' }),
    ...attempting('delivered', 204),
    'remove-ephemeral-organizations': () => result({ removed: [organizationId] }),
  };
  const served = {
    [deletion]: () => ({ headers, ...deletions.shift() }),
    'api:GET /webhook-origins': () => ({ headers, body: JSON.stringify(origins) }),
  };
  region.answer({ ...working, ...operations }, { ...served, ...replies });
  const { exitCode, stdout, stderr } = await wallet('smoke', '--json', '--outputs', outputs);
  const { passed, steps } = JSON.parse(stdout);
  const outcomes = steps.map(({ name, outcome }: Record<string, string>) => `${outcome}: ${name}`);
  return { exitCode, stderr, passed, steps, outcomes };
}

it('reports every step and its prerequisites, and cleans up after a failure', async () => {
  const failing = {
    [deletion]: () => ({ status: 500 }),
    'api:GET /webhook-origins': () => ({ headers, body: JSON.stringify({ ...origins, reserve: [] }) }),
  };
  const { exitCode, passed, steps, outcomes, stderr } = await smoke({}, failing);
  expect({ exitCode, passed }).toEqual({ exitCode: 1, passed: false });
  expect(outcomes.slice(0, 5)).toEqual([
    'passed: create an ephemeral organization',
    'failed: delete its group through the API',
    'skipped: delete it again: expect 404',
    'skipped: find the audit record',
    'failed: check GET /webhook-origins',
  ]);
  expect(steps.at(-1)).toMatchObject({ name: 'clean up', detail: `removed ${organizationId}` });
  expect(stderr).toContain(`${first.name}: 8 passed, 2 failed, 2 skipped, in `);
  expect(stderr).toContain('To "delete its group through the API": A proxy or a network\'s sign-in page');
});

it.each([
  ['of its deletion', true, {}],
  ["of another caller's deletion", false, { identityId: 'us-2' }],
  ['of another outcome', false, { outcome: 'user_group_not_found' }],
])('an audit record %s: passes %j', async (_, passes, change) => {
  const records = [{ ...record, ...change }];
  const { passed, outcomes } = await smoke({
    'list-audit-records': () => result({ records }),
  });
  expect(passed).toBe(passes);
  expect(outcomes).toContain(`${passes ? 'passed' : 'failed'}: find the audit record`);
});

it('has not passed when Ctrl-C ended it, and cleans up', async () => {
  const seed = () => {
    process.emit('SIGINT');
    return result(ids);
  };
  const { exitCode, passed, outcomes } = await smoke({ seed });
  expect({ exitCode, passed }).toEqual({ exitCode: 1, passed: false });
  expect(outcomes.join()).not.toContain('failed');
  expect(outcomes.at(-1)).toBe('passed: clean up');
});

it('reports a delivery that is missing, and skips what depends on it', async () => {
  const { outcomes, steps } = await smoke({ 'list-delivery-attempts': () => result({ attempts: [] }) });
  const missing = { outcome: 'failed', detail: 'No delivery attempt within 120 s.' };
  expect(steps).toContainEqual(expect.objectContaining({ name: 'find it in the delivery log', ...missing }));
  expect(outcomes).toContain('skipped: receive the delivery');
});

it.each([
  ['matches', ['203.0.113.8/32'], 'passed'],
  ['is missing', undefined, 'failed'],
  ['differs', ['203.0.113.9/32'], 'failed'],
])('a published reserve that %s has %j: %s', async (_, listed, outcome) => {
  const outputs = JSON.parse(readFileSync(region.outputs, 'utf8'));
  outputs[first.stackId].WebhookOriginReserveAddress = '203.0.113.8';
  const file = join(dirname(region.outputs), 'with-reserve.json');
  writeFileSync(file, JSON.stringify(outputs));
  const body = JSON.stringify({ ...origins, reserve: listed });
  const replies = { 'api:GET /webhook-origins': () => ({ headers, body }) };
  const { outcomes } = await smoke({}, replies, file);
  expect(outcomes).toContain(`${outcome}: check GET /webhook-origins`);
});

it.each([
  [204, 'passed', 'passed', 'passed'],
  [403, 'passed', 'failed', 'skipped'],
  [401, 'passed', 'passed', 'failed'],
  [null, 'failed', 'skipped', 'skipped'],
])(
  'reads status %s of its own receiver as arrival %s, source %s, signature %s',
  async (status, ...expected) => {
    const { outcomes } = await smoke(attempting(status === 204 ? 'delivered' : 'given_up', status));
    const names = ['receive the delivery', 'check its source address', 'verify its signature'];
    expect(outcomes.slice(-4, -1)).toEqual(names.map((name, index) => `${expected[index]}: ${name}`));
  },
);
