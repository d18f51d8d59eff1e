import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callsNotGranted } from '../support/granted';
import { withStandby } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { withoutStacks, withStacks } from './deployed-stacks';
import { localAccount } from './local-account';
import { wallet } from './region';

const account = localAccount();
const folder = temporaryFolder();
afterEach(() => expect(callsNotGranted('operate', account().calls)).toEqual([]));

const outputs = (...args: string[]) => wallet('outputs', '--environment', withStandby.name, ...args);
const expected = {
  [withStandby.stackId]: { WebhookOriginAddress: '203.0.113.7', OperationsFunctionName: 'RunOperation' },
};

it('prints the outputs of the serving stack as "cdk deploy --outputs-file" writes them, or writes them to a file', async () => {
  account().answer(withStacks());
  const { exitCode, stdout } = await outputs();
  expect({ exitCode, outputs: JSON.parse(stdout) }).toEqual({ exitCode: 0, outputs: expected });
  expect(account().calls.map(({ region, input }) => [region, input.StackName])).toEqual([
    [withStandby.region, withStandby.stackId],
  ]);
  const file = join(folder(), 'outputs.json');
  expect(await outputs('--write', file)).toEqual({ exitCode: 0, stdout: '', stderr: `Wrote ${file}.\n` });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(expected);
});

it("refuses to overwrite the local environments' outputs, and reports a file that cannot be written", async () => {
  account().answer(withStacks());
  expect(await outputs('--write', join(folder(), 'none/outputs.json'))).toMatchObject({ exitCode: 1 });
  writeFileSync(join(folder(), 'endpoints.json'), '{}');
  expect(await outputs('--write', join(folder(), 'outputs.json'))).toMatchObject({ exitCode: 2, stdout: '' });
  expect(readdirSync(folder())).toEqual(['endpoints.json']);
});

it.each([
  ['is not deployed', withoutStacks],
  ['has only a change set', withStacks(undefined, { StackStatus: 'REVIEW_IN_PROGRESS' })],
])('fails when the stack %s', async (_, replies) => {
  account().answer(replies);
  expect(await outputs()).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining(
      `This account has no stack ${withStandby.stackId} in ${withStandby.region}`,
    ),
  });
});
