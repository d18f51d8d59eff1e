import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharedKeysOf } from '../../../lib/environment/schema';
import { keysIn, withStandby } from '../../support/rows';
import { temporaryFolder } from '../../support/temporary-folder';
import { callsNotGranted, useAccount, withResources, withStacks } from '../account';
import { wallet } from '../region';

const account = useAccount();
const folder = temporaryFolder();

const { name, stackId, region } = withStandby;
const outputs = (...args: string[]) => wallet('outputs', '--environment', name, ...args);

it('prints the outputs of the serving stack as "cdk deploy --outputs-file" does, or writes them', async () => {
  const Outputs = [{ OutputKey: 'ApiBaseUrl', OutputValue: 'https://…' }];
  account().answer(withStacks({ Outputs }), withResources());
  const expected = { [stackId]: { ApiBaseUrl: 'https://…' } };
  expect(JSON.parse((await outputs()).stdout)).toEqual(expected);
  const file = join(folder(), 'outputs.json');
  expect(await outputs('--write', file)).toMatchObject({ exitCode: 0, stdout: '' });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(expected);
  expect(account().calls[0]).toMatchObject({ region, input: { StackName: stackId } });
  expect(callsNotGranted('operate', account().calls)).toEqual([]);
});

it('prints the keys to record for the standby, until the row has them, as lines of the row', async () => {
  const resources = sharedKeysOf(withStandby).map(({ logicalId }, index) => {
    return ['AWS::KMS::Key', `mrk-${String(index).padStart(32, '0')}`, logicalId] as const;
  });
  account().answer(withStacks({ Outputs: [] }), withResources(...resources));
  const { stderr, stdout } = await outputs();
  expect(JSON.parse(stdout)).toEqual({ [stackId]: {} });
  const [heading, ...lines] = stderr.trimEnd().split('\n');
  expect(heading).toContain('lib/environments.ts');
  const recorded = new Function(`return { ${lines.join('\n')} }`)();
  expect(recorded).toEqual({ keys: keysIn(region, withStandby) });
  expect(callsNotGranted('operate', account().calls)).toEqual([]);
  account().answer(withStacks({ Outputs: [] }), withResources());
  expect((await outputs()).stderr).toBe('');
});

it('prints the address to record, until the row has it', async () => {
  const Outputs = [{ OutputKey: 'WebhookOriginAddress', OutputValue: '203.0.113.7' }];
  account().answer(withStacks({ Outputs }), withResources());
  expect((await outputs()).stderr).toContain("\noriginAddress: '203.0.113.7',\n");
});

it("refuses to overwrite the local environments' outputs", async () => {
  account().answer(withStacks());
  writeFileSync(join(folder(), 'endpoints.json'), '{}');
  expect((await outputs('--write', join(folder(), 'outputs.json'))).exitCode).toBe(2);
  expect(readdirSync(folder())).toEqual(['endpoints.json']);
});
