import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharedKeysOf } from '../../../lib/environment/schema';
import { keysIn, withStandby } from '../../support/rows';
import { temporaryFolder } from '../../support/temporary-folder';
import { notGranted, useAccount, withResources, withStacks } from '../account';
import { wallet } from '../region';

const account = useAccount();
const folder = temporaryFolder();

const { name, stackId, region } = withStandby;
const outputs = (...args: string[]) => wallet('outputs', '--environment', name, ...args);

it('prints outputs as "cdk deploy --outputs-file" does, or writes them, and what the row has to record', async () => {
  const Outputs = [{ OutputKey: 'WebhookOriginAddress', OutputValue: '203.0.113.7' }];
  const resources = sharedKeysOf(withStandby).map(({ logicalId }, index) => {
    return ['AWS::KMS::Key', `mrk-${String(index).padStart(32, '0')}`, logicalId] as const;
  });
  account().answer(withStacks({ Outputs }), withResources(...resources));
  const { stdout, stderr } = await outputs();
  const expected = { [stackId]: { WebhookOriginAddress: '203.0.113.7' } };
  expect(JSON.parse(stdout)).toEqual(expected);
  const file = join(folder(), 'outputs.json');
  expect(await outputs('--write', file)).toMatchObject({ exitCode: 0, stdout: '' });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(expected);
  const lines = stderr.replaceAll(/^Record .*, in the row of lib\/environments\.ts:$/gm, '');
  const recorded = new Function(`return { ${lines} }`)();
  expect(recorded).toEqual({ keys: keysIn(region, withStandby), originAddress: '203.0.113.7' });
  expect(account().calls[0]).toMatchObject({ region, input: { StackName: stackId } });
  expect(notGranted('operate', account().calls)).toEqual([]);
  account().answer(withStacks({ Outputs: [] }), withResources());
  expect(await outputs()).toMatchObject({ stdout: expect.stringContaining('{}'), stderr: '' });
});

it("refuses to overwrite the local environments' outputs", async () => {
  account().answer(withStacks());
  writeFileSync(join(folder(), 'endpoints.json'), '{}');
  expect((await outputs('--write', join(folder(), 'outputs.json'))).exitCode).toBe(2);
  expect(readdirSync(folder())).toEqual(['endpoints.json']);
});
