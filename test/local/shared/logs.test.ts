import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openLogs } from '../../../local/shared/logs';
import { eventually } from '../../support/eventually';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
it("writes every line to its function's file, which only its owner can read, and reports errors", async () => {
  const lines: [line: string, reported?: string][] = [
    ['{"level":"INFO","message":"fine"}'],
    ['{"level":"ERROR","message":"Denied","error":{"message":"no role"}}', 'Denied: no role'],
    ['{"level":"ERROR","message":"Unavailable","reason":"timeout"}', 'Unavailable: timeout'],
    ['Invoke Error {"errorType":"Error","errorMessage":"boom","trace":[]}', 'boom'],
    ['Error: Task timed out after 5.00 seconds', 'Error: Task timed out after 5.00 seconds'],
  ];
  mkdirSync(join(folder(), 'Fails.log'));
  const [errors, failures] = [[] as string[], [] as string[]];
  const logs = openLogs(folder(), {
    onError: (name, message) => errors.push(`${name}: ${message}`),
    onFailure: ({ message }) => failures.push(message),
  });
  for (const [line] of lines) logs.writeFunction('DeleteUserGroupD0AD1D06', line);
  for (const line of ['one', 'two']) logs.write('Fails', line);
  await eventually(() => failures.length > 0);
  await logs.close();
  expect(failures[0]).toMatch(/^EISDIR: .*Fails\.log'$/);
  const file = join(folder(), 'DeleteUserGroup.log');
  expect(readFileSync(file, 'utf8')).toBe(lines.map(([line]) => `${line}\n`).join(''));
  expect(statSync(file).mode & 0o077).toBe(0);
  expect(errors).toEqual(lines.flatMap(([, reported]) => (reported ? `DeleteUserGroup: ${reported}` : [])));
});
