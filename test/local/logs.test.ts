import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLogs } from '../../local/logs';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();

async function written(...lines: string[]) {
  const errors: string[] = [];
  const logs = openLogs(folder(), (name, message) => errors.push(`${name}: ${message}`));
  for (const line of lines) logs.writeFunction('DeleteUserGroupD0AD1D06', line);
  await logs.close();
  return { errors, text: readFileSync(join(folder(), 'DeleteUserGroup.log'), 'utf8') };
}

it('writes each line to a file named after the function', async () => {
  const { text, errors } = await written('one', '{"level":"INFO","message":"fine"}');
  expect(text).toBe('one\n{"level":"INFO","message":"fine"}\n');
  expect(errors).toEqual([]);
});

it.each([
  [
    '{"level":"ERROR","message":"Deletion failed","error":{"message":"no such role"}}',
    'Deletion failed: no such role',
  ],
  ['{"level":"ERROR","message":"Unavailable","reason":"timeout"}', 'Unavailable: timeout'],
  ['Invoke Error {"errorType":"Error","errorMessage":"boom","trace":[]}', 'boom'],
  ['Error: Task timed out after 5.00 seconds', 'Error: Task timed out after 5.00 seconds'],
])('reports the error in %s', async (line, message) => {
  expect((await written(line)).errors).toEqual([`DeleteUserGroup: ${message}`]);
});
