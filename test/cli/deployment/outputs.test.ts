import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { first, withStandby } from '../../support/rows';
import { temporaryFolder } from '../../support/temporary-folder';
import { localAccount, refusal } from '../local-account';
import { wallet } from '../region';
import { withoutStacks, withStacks } from './deployed';

const account = localAccount();

it('prints the outputs of the stack that serves as "cdk deploy --outputs-file" writes them', async () => {
  account().answer(withStacks());
  const { exitCode, stdout } = await wallet('outputs', '--environment', withStandby.name);
  expect({ exitCode, outputs: JSON.parse(stdout) }).toEqual({
    exitCode: 0,
    outputs: {
      [withStandby.stackId]: {
        WebhookOriginAddress: '203.0.113.7',
        OperationsFunctionName: 'WalletEu-RunOperation',
      },
    },
  });
  expect(account().calls.map(({ region, input }) => [region, input.StackName])).toEqual([
    [withStandby.region, withStandby.stackId],
  ]);
});

describe('with --write', () => {
  const folder = temporaryFolder();
  const write = (file: string) => wallet('outputs', '--environment', withStandby.name, '--write', file);
  beforeEach(() => account().answer(withStacks()));

  it('writes a new file, or beside the other environments of one', async () => {
    const file = join(folder(), 'outputs.json');
    const added = { [withStandby.stackId]: expect.objectContaining({ WebhookOriginAddress: '203.0.113.7' }) };
    const printed = await write(file);
    expect(printed).toMatchObject({ exitCode: 0, stdout: '' });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(added);
    const other = { Other: { ApiBaseUrl: 'https://api.example/' } };
    writeFileSync(file, JSON.stringify({ ...other, [withStandby.stackId]: { Former: 'x' } }));
    expect((await write(file)).stderr).toBe(`Wrote ${file}. It has: Other, ${withStandby.stackId}.\n`);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ ...other, ...added });
  });

  it('leaves a file alone that is not one of outputs, and the folder of the environments of this machine', async () => {
    const file = join(folder(), 'notes.json');
    writeFileSync(file, '["notes"]');
    expect(await write(file)).toMatchObject({ exitCode: 1, stdout: '' });
    expect(readFileSync(file, 'utf8')).toBe('["notes"]');
    writeFileSync(join(folder(), 'endpoints.json'), '{}');
    expect(await write(join(folder(), 'outputs.json'))).toMatchObject({ exitCode: 2, stdout: '' });
    expect(readdirSync(folder()).sort()).toEqual(['endpoints.json', 'notes.json']);
  });
});

it.each([
  ['is not deployed', withoutStacks, `There is no stack ${first.stackId} in ${first.region}.`],
  [
    'may not be read',
    { 'cloudformation:DescribeStacks': () => refusal('AccessDenied') },
    'Sign in as someone who has cloudformation:DescribeStacks.',
  ],
  [
    'cannot be read by a role that does not exist',
    { 'cloudformation:DescribeStacks': () => refusal('AccessDenied', 'The role x does not exist') },
    'Sign in as someone who has cloudformation:DescribeStacks.',
  ],
])('fails when the stack %s', async (_, replies, message) => {
  account().answer(replies);
  const { exitCode, stdout, stderr } = await wallet('outputs', '--environment', first.name);
  expect({ exitCode, stdout, stderr }).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining(message),
  });
});
