import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openLogs } from '../../../local/shared/logs';
import { eventually } from '../../support/eventually';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
const failure = '{"level":"ERROR","message":"Deletion failed","error":{"message":"no such role"}}';

it.each([
  ['{"level":"INFO","message":"fine"}', []],
  [failure, ['Deletion failed: no such role']],
  ['{"level":"ERROR","message":"Unavailable","reason":"timeout"}', ['Unavailable: timeout']],
  ['Invoke Error {"errorType":"Error","errorMessage":"boom","trace":[]}', ['boom']],
  ['Error: Task timed out after 5.00 seconds', ['Error: Task timed out after 5.00 seconds']],
])("writes %s to its function's file, and reports %j", async (line, reported) => {
  const errors: string[] = [];
  const onError = (name: string, message: string) => errors.push(`${name}: ${message}`);
  const logs = openLogs(folder(), { onError, onFailure: (error) => errors.push(error.message) });
  for (const each of ['one', line]) logs.writeFunction('DeleteUserGroupD0AD1D06', each);
  await logs.close();
  const file = join(folder(), 'DeleteUserGroup.log');
  expect(readFileSync(file, 'utf8')).toBe(`one\n${line}\n`);
  expect(statSync(file).mode & 0o077).toBe(0);
  expect(errors).toEqual(reported.map((message) => `DeleteUserGroup: ${message}`));
});

it('reports that a file cannot be written, and still closes', async () => {
  mkdirSync(join(folder(), 'Fails.log'));
  const failures: string[] = [];
  const onFailure = ({ message }: Error) => failures.push(message);
  const logs = openLogs(folder(), { onError: () => undefined, onFailure });
  for (const line of ['one', 'two']) logs.write('Fails', line);
  await eventually(() => failures.length > 0);
  await logs.close();
  expect(failures[0]).toMatch(/^EISDIR: .*Fails\.log'$/);
});
