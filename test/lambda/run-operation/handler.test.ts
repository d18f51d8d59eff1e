import { newId } from '../../../domain/ids';
import { inputs } from '../../../domain/operations';
import { fail } from '../../../domain/result';
import { createHandler } from '../../../lambda/run-operation/handler';
import { recordLog } from '../../support/log';
import { refused } from './operations';

const unavailable = {
  execute: async () => fail({ kind: 'database_unavailable', reason: 'timeout' } as const),
};
const handle = createHandler({ ports: { database: unavailable, environment: 'test' }, log: recordLog() });

const time = 'a time such as';
const name = '1 to 256 characters';
const kindsForm = '1 to 100 kinds of events';
const tooMany = Array.from({ length: 101 }, (_, index) => `kind${index}`);
/** A valid value of each field, the message for invalid ones, and some of those. */
const fields: Readonly<Record<string, readonly [valid: unknown, form: string, ...invalid: unknown[]]>> = {
  organizationId: [newId('or'), 'an id such as or-', 'or-1', newId('ug'), 1],
  webhookId: [newId('wh'), 'an id such as wh-', newId('ug')],
  identityId: [newId('us'), 'an id such as us-', newId('ug')],
  userGroupId: [newId('ug'), 'an id such as ug-', newId('us')],
  eventId: ['evt_1', "an event's id", 'a.b'],
  after: ['evt_1', "an event's id", 'a.b'],
  userGroupName: ['a', name, '', 'x'.repeat(257), 'a\0b', 'a\ud83d', 1],
  ephemeral: [true, 'true or false', 'yes', null],
  again: [true, 'true or false', 1],
  undelivered: [true, 'true or false', 1],
  url: ['https://hooks.customer.com/', 'a URL', 1],
  kinds: [null, kindsForm, [], ['a,b'], [1], tooMany, 'wallet.created'],
  outcome: ['failed', 'one of ', 'lost', { toString: 1 }, ['failed']],
  // PostgreSQL refuses the year 0, and times that JavaScript writes with five digits.
  since: ['2026-11-20T12:00:00Z', time, 'yesterday', '2026-13-20T12:00:00Z', '0000-12-31T23:59:59Z'],
  until: ['9999-12-31T23:59:59Z', time, '9999-12-31T23:59:59-14:00', '1', ' 2026-11-20T12:00:00Z'],
  limit: [1_000, 'a whole number from 1 to 1000', 0, 1_001, 1.5, '1'],
};
const operations = Object.entries(inputs).map(
  ([operation, of]): [string, Readonly<Record<string, unknown>>] => [
    operation,
    Object.fromEntries(Object.keys(of).map((field) => [field, fields[field]?.[0]])),
  ],
);

it.each(['sed', 'constructor'])('refuses the unknown operation %s and lists all', async (operation) => {
  const known = `Known: ${Object.keys(inputs).sort().join(', ')}.`;
  expect(await handle({ operation })).toEqual(refused('unknown_operation', expect.stringContaining(known)));
});

it.each([undefined, null, 'seed', [], {}, { operation: 1 }])('refuses the payload %j', async (payload) => {
  expect(await handle(payload)).toEqual(refused('input_invalid'));
});

it.each(operations)(
  '%s refuses wrong fields, and reports an unavailable database',
  async (operation, input) => {
    const maybe = expect.stringContaining('may have been made');
    expect(await handle({ operation, input })).toEqual(refused('database_unavailable', maybe));
    const unknown = expect.stringContaining('"more" is not a field');
    const more = { ...input, more: 1 };
    expect(await handle({ operation, input: more })).toEqual(refused('input_invalid', unknown));
    for (const field of Object.keys(input)) {
      const [, form, ...invalid] = fields[field] ?? ['', ''];
      const message = expect.stringContaining(`"${field}" must be ${form}`);
      for (const value of invalid)
        expect([field, value, await handle({ operation, input: { ...input, [field]: value } })]).toEqual([
          field,
          value,
          refused('input_invalid', message),
        ]);
    }
  },
);

it('names a missing field', async () => {
  expect(await handle({ operation: 'seed' })).toEqual(
    refused('input_invalid', '"userGroupName" is missing.'),
  );
  expect(await handle({ operation: 'seed', input: 'a' })).toEqual(
    refused('input_invalid', '"input" must be an object.'),
  );
});
