import { createHandler } from '../../../lambda/run-operation/handler';
import { newId } from '../../../lambda/shared/ids';
import { fail } from '../../../lambda/shared/result';
import { recordLog } from '../../support/log';

const away = { execute: async () => fail({ kind: 'database_unavailable', reason: 'timeout' } as const) };
const withoutDatabase = createHandler({ ports: { database: away, environment: 'test' }, log: recordLog() });
const refused = (code: string, message: unknown = expect.any(String)) => ({
  ok: false,
  error: { code, message },
});

it('answers an operation that does not exist with those that do', async () => {
  const known = expect.stringMatching(/add-user-group, .*describe-identity, .*list-audit-records, .*seed/);
  expect(await withoutDatabase({ operation: 'sed' })).toEqual(refused('unknown_operation', known));
  expect(await withoutDatabase({ operation: 'constructor' })).toEqual(refused('unknown_operation', known));
});

it.each([undefined, null, 'seed', [], {}, { operation: 1 }])('refuses the payload %j', async (payload) => {
  expect(await withoutDatabase(payload)).toEqual(refused('input_invalid'));
});

it('says that the database did not answer, and that a change may have been made', async () => {
  const expected = refused('database_unavailable', expect.stringContaining('may have been made'));
  expect(await withoutDatabase({ operation: 'seed', input: { userGroupName: 'a' } })).toEqual(expected);
  expect(
    await withoutDatabase({
      operation: 'add-user-group',
      input: { organizationId: newId('or'), userGroupName: 'a' },
    }),
  ).toEqual(expected);
  expect(
    await withoutDatabase({ operation: 'describe-identity', input: { identityId: newId('us') } }),
  ).toEqual(expected);
  expect(
    await withoutDatabase({ operation: 'list-audit-records', input: { userGroupId: newId('ug') } }),
  ).toEqual(expected);
});
