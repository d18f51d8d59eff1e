import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withStandby } from '../../support/rows';
import { temporaryFolder } from '../../support/temporary-folder';
import { callsNotGranted, useAccount, withStacks } from '../account';
import { wallet } from '../region';

const account = useAccount();
const folder = temporaryFolder();

const { name, stackId, region } = withStandby;
const outputs = (...args: string[]) => wallet('outputs', '--environment', name, ...args);

it('prints the outputs of the serving stack as "cdk deploy --outputs-file" does, or writes them', async () => {
  account().answer(withStacks({ Outputs: [{ OutputKey: 'ApiBaseUrl', OutputValue: 'https://…' }] }));
  const expected = { [stackId]: { ApiBaseUrl: 'https://…' } };
  expect(JSON.parse((await outputs()).stdout)).toEqual(expected);
  const file = join(folder(), 'outputs.json');
  expect(await outputs('--write', file)).toMatchObject({ exitCode: 0, stdout: '' });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(expected);
  expect(account().calls[0]).toMatchObject({ region, input: { StackName: stackId } });
  expect(callsNotGranted('operate', account().calls)).toEqual([]);
});

it("refuses to overwrite the local environments' outputs", async () => {
  account().answer(withStacks());
  writeFileSync(join(folder(), 'endpoints.json'), '{}');
  expect((await outputs('--write', join(folder(), 'outputs.json'))).exitCode).toBe(2);
  expect(readdirSync(folder())).toEqual(['endpoints.json']);
});
