import { newId } from '../../../domain/ids';
import { inputs } from '../../../domain/operations';
import { fail } from '../../../domain/result';
import { createHandler } from '../../../lambda/run-operation/handler';
import { recordLog } from '../../support/log';
import { ownFacts } from '../../support/organization';

const unavailable = {
  execute: async () => fail({ kind: 'database_unavailable', reason: 'timeout' } as const),
};
const handle = createHandler({ ports: { database: unavailable, ...ownFacts }, log: recordLog() });
const refused = (code: string, message: unknown) => ({ ok: false, error: { code, message } });

const tooMany = Array.from({ length: 101 }, (_, index) => `kind${index}`);
/** A valid value of each field, and invalid ones. */
const fields: Readonly<Record<string, readonly [valid: unknown, ...invalid: unknown[]]>> = {
  organizationId: [newId('or'), newId('ug'), 1],
  webhookId: [newId('wh'), newId('ug')],
  identityId: [newId('sa'), newId('ug')],
  userGroupId: [newId('ug'), newId('us')],
  eventId: ['evt_1', 'a.b'],
  after: ['evt_1', 'a.b'],
  userGroupName: ['a', '', 'x'.repeat(257), 'a\0b', 'a\ud83d', 1],
  ephemeral: [true, 'yes', null],
  again: [true, 1],
  undelivered: [true, 1],
  url: ['https://hooks.customer.com/', 1],
  kinds: [null, [], ['a,b'], [1], tooMany, 'wallet.created'],
  outcome: ['failed', 'lost', ['failed']],
  // PostgreSQL refuses the year 0, and times that JavaScript writes with five digits.
  since: ['2026-11-20T12:00:00Z', 'yesterday', '2026-02-30T12:00:00Z', '0000-12-31T23:59:59Z'],
  until: ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59-14:00', '1', ' 2026-11-20T12:00:00Z'],
  limit: [1_000, 0, 1_001, 1.5, '1'],
};

it.each(Object.entries(inputs))('%s reports wrong fields and lost databases', async (operation, its) => {
  const names = Object.keys(its);
  const input = Object.fromEntries(names.map((name) => [name, fields[name]?.[0]]));
  const maybe = expect.stringContaining('may have been made');
  expect(await handle({ operation, input })).toEqual(refused('database_unavailable', maybe));
  const wrong = names.flatMap((name) => fields[name]?.slice(1).map((value) => ({ [name]: value })) ?? []);
  for (const change of [{ more: 1 }, ...wrong]) {
    const message = expect.stringMatching(`^"${Object.keys(change)}" (must be|is not a field)`);
    const response = await handle({ operation, input: { ...input, ...change } });
    expect([change, response]).toEqual([change, refused('input_invalid', message)]);
  }
});

it.each([
  [undefined, 'input_invalid', 'payload'],
  [{ operation: 'seed', input: 'a' }, 'input_invalid', '"input" must be an object'],
  [{ operation: 'seed' }, 'input_invalid', '"userGroupName" is missing'],
  [{ operation: 'constructor' }, 'unknown_operation', `Known: ${Object.keys(inputs).sort().join(', ')}.`],
])('refuses the payload %j: %s', async (payload, code, message) => {
  expect(await handle(payload)).toEqual(refused(code, expect.stringContaining(message)));
});
