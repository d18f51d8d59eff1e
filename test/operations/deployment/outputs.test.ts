import { first, withStandby } from '../../support/rows';
import { refusal } from '../preflight/account';
import { wallet } from '../region';
import { localAccount, withoutStacks, withStacks } from './deployed';

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
