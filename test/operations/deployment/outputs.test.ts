import { refusal } from '../preflight/account';
import { wallet } from '../region';
import { localAccount, withoutStacks, withStacks } from './deployed';

const account = localAccount();

it('prints the outputs of the stack that serves as "cdk deploy --outputs-file" writes them', async () => {
  account().answer(withStacks());
  const { exitCode, stdout } = await wallet('outputs', '--environment', 'eu');
  expect({ exitCode, outputs: JSON.parse(stdout) }).toEqual({
    exitCode: 0,
    outputs: {
      WalletEu: { WebhookOriginAddress: '203.0.113.7', OperationsFunctionName: 'WalletEu-RunOperation' },
    },
  });
  expect(account().calls.map(({ region, input }) => [region, input.StackName])).toEqual([
    ['eu-central-1', 'WalletEu'],
  ]);
});

it.each([
  ['is not deployed', withoutStacks, 'There is no stack WalletUae in me-central-1.'],
  [
    'may not be read',
    { 'cloudformation:DescribeStacks': () => refusal('AccessDenied') },
    'Sign in as someone who has cloudformation:DescribeStacks.',
  ],
])('fails when the stack %s', async (_, replies, message) => {
  account().answer(replies);
  const { exitCode, stdout, stderr } = await wallet('outputs', '--environment', 'uae');
  expect({ exitCode, stdout, stderr }).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining(message),
  });
});
