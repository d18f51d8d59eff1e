import { newId } from '../../../domain/ids';
import { fail } from '../../../domain/result';
import { createHandler } from '../../../lambda/run-operation/handler';
import { recordLog } from '../../support/log';
import { refused } from './operations';

const unavailable = {
  execute: async () => fail({ kind: 'database_unavailable', reason: 'timeout' } as const),
};
const handle = createHandler({ ports: { database: unavailable, environment: 'test' }, log: recordLog() });

const [organizationId, userGroupId, webhookId] = [newId('or'), newId('ug'), newId('wh')];
const [since, until] = ['2026-11-20T12:00:00Z', '2026-11-21T12:00:00Z'];
const url = 'https://hooks.customer.com/';
/** Valid input of each operation. */
const inputs: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'add-user-group': { organizationId, userGroupName: 'a' },
  'add-webhook': { organizationId, url },
  'describe-identity': { identityId: newId('us') },
  'describe-webhook': { webhookId },
  'disable-webhook': { webhookId },
  'enable-webhook': { webhookId },
  'list-audit-records': { userGroupId },
  'list-delivery-attempts': { eventId: 'evt_1' },
  'list-kept-events': { webhookId, since, until },
  'list-webhooks': { organizationId },
  'remove-ephemeral-organizations': { organizationId },
  'remove-webhook': { webhookId },
  'rotate-webhook-secret': { webhookId },
  seed: { userGroupName: 'a' },
  'update-webhook': { webhookId, kinds: null },
};

it.each(['sed', 'constructor'])('refuses the unknown operation %s and lists all', async (operation) => {
  expect(await handle({ operation })).toEqual(
    refused('unknown_operation', expect.stringContaining(`Known: ${Object.keys(inputs).join(', ')}.`)),
  );
});

it.each([undefined, null, 'seed', [], {}, { operation: 1 }])('refuses the payload %j', async (payload) => {
  expect(await handle(payload)).toEqual(refused('input_invalid'));
});

it.each(Object.entries(inputs))(
  '%s reports an unavailable database, and that a change may have been made',
  async (operation, input) => {
    expect(await handle({ operation, input })).toEqual(
      refused('database_unavailable', expect.stringContaining('may have been made')),
    );
  },
);

it.each(Object.entries(inputs))('%s refuses an unknown field and a wrong id', async (operation, input) => {
  expect(await handle({ operation, input: { ...input, more: 1 } })).toEqual(
    refused('input_invalid', expect.stringContaining('"more" is not a field')),
  );
  for (const field of Object.keys(input).filter((name) => name.endsWith('Id')))
    expect(await handle({ operation, input: { ...input, [field]: 'x.y' } })).toEqual(
      refused('input_invalid', expect.stringContaining(`"${field}" must be an `)),
    );
});

const name = '1 to 256 characters';
const time = 'a time such as';
const limit = 'a whole number from 1 to 1000';
const kinds = '1 to 100 kinds of events';
it.each<[string, string, unknown, string]>([
  ...['', 'x'.repeat(257), 'a\0b', 'a\ud83d', 1].map((value): [string, string, unknown, string] => [
    'seed',
    'userGroupName',
    value,
    name,
  ]),
  ['seed', 'ephemeral', 'yes', 'true or false'],
  ['seed', 'ephemeral', null, 'true or false'],
  ['describe-identity', 'identityId', newId('ug'), 'an id such as us-'],
  ['rotate-webhook-secret', 'again', 1, 'true or false'],
  ['add-webhook', 'url', 1, 'a URL'],
  ['add-webhook', 'kinds', [], kinds],
  ['add-webhook', 'kinds', ['a,b'], kinds],
  ['add-webhook', 'kinds', [1], kinds],
  ['add-webhook', 'kinds', Array.from({ length: 101 }, (_, index) => `kind${index}`), kinds],
  ['add-webhook', 'kinds', 'wallet.created', kinds],
  ['update-webhook', 'kinds', [], kinds],
  ['list-delivery-attempts', 'outcome', 'lost', 'one of '],
  ['list-delivery-attempts', 'outcome', { toString: 1 }, 'one of '],
  ['list-delivery-attempts', 'outcome', ['failed'], 'one of '],
  ['list-delivery-attempts', 'since', 'yesterday', time],
  // PostgreSQL refuses these.
  ['list-delivery-attempts', 'since', '0000-01-01T00:00:00Z', time],
  ['list-delivery-attempts', 'until', '9999-12-31T23:59:59-14:00', time],
  ['list-kept-events', 'since', '0000-01-01T00:00:00Z', time],
  ['list-delivery-attempts', 'limit', 0, limit],
  ['list-kept-events', 'limit', 1_001, limit],
])('%s refuses %s %j', async (operation, field, value, form) => {
  const input = { ...inputs[operation], [field]: value };
  expect(await handle({ operation, input })).toEqual(
    refused('input_invalid', expect.stringContaining(`"${field}" must be ${form}`)),
  );
});

it('names a missing field', async () => {
  expect(await handle({ operation: 'seed' })).toEqual(
    refused('input_invalid', '"userGroupName" is missing.'),
  );
  expect(await handle({ operation: 'seed', input: 'a' })).toEqual(
    refused('input_invalid', '"input" must be an object.'),
  );
});
