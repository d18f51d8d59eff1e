import { newId } from '../../../domain/ids';
import { fail } from '../../../domain/result';
import { createHandler } from '../../../lambda/run-operation/handler';
import { recordLog } from '../../support/log';
import { refused } from './operations';

const away = { execute: async () => fail({ kind: 'database_unavailable', reason: 'timeout' } as const) };
const withoutDatabase = createHandler({ ports: { database: away, environment: 'test' }, log: recordLog() });

const [organizationId, userGroupId, webhookId] = [newId('or'), newId('ug'), newId('wh')];
/** Valid input of each operation. */
const inputs: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'add-user-group': { organizationId, userGroupName: 'a' },
  'add-webhook': { organizationId, url: 'https://hooks.customer.com/' },
  'describe-identity': { identityId: newId('us') },
  'describe-webhook': { webhookId },
  'disable-webhook': { webhookId },
  'enable-webhook': { webhookId },
  'list-audit-records': { userGroupId },
  'list-delivery-attempts': { eventId: 'evt_1' },
  'list-kept-events': { webhookId, since: '2026-11-20T12:00:00Z', until: '2026-11-21T12:00:00Z' },
  'list-webhooks': { organizationId },
  'remove-ephemeral-organizations': { organizationId },
  'remove-webhook': { webhookId },
  'rotate-webhook-secret': { webhookId },
  seed: { userGroupName: 'a' },
  'update-webhook': { webhookId, kinds: null },
};

it.each(['sed', 'constructor'])(
  'refuses the unknown operation %s and lists those that exist',
  async (operation) => {
    expect(await withoutDatabase({ operation })).toEqual(
      refused('unknown_operation', expect.stringContaining(`Known: ${Object.keys(inputs).join(', ')}.`)),
    );
  },
);

it.each([undefined, null, 'seed', [], {}, { operation: 1 }])('refuses the payload %j', async (payload) => {
  expect(await withoutDatabase(payload)).toEqual(refused('input_invalid'));
});

it.each(Object.entries(inputs))(
  '%s says that the database did not answer, and that a change may have been made',
  async (operation, input) => {
    expect(await withoutDatabase({ operation, input })).toEqual(
      refused('database_unavailable', expect.stringContaining('may have been made')),
    );
  },
);
