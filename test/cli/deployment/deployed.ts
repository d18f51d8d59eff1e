import { setVariables } from '../aws-endpoint';
import { type LocalAccount, type Replies, refusal, result, startAccount } from '../preflight/account';

export const stackArn = (name: string, region = 'eu-central-1') =>
  `arn:aws:cloudformation:${region}:111122223333:stack/${name}/0f0f0f0f-0000-4000-8000-000000000000`;

/** An account with stacks, last changed at `changed`. */
export const withStacks = (changed = '2026-11-20T12:00:00.000Z', more: object = {}): Replies => ({
  'cloudformation:DescribeStacks': ({ input, region }) =>
    result({
      Stacks: [
        {
          StackId: stackArn(input.StackName, region),
          StackName: input.StackName,
          StackStatus: 'UPDATE_COMPLETE',
          CreationTime: '2026-01-01T00:00:00.000Z',
          LastUpdatedTime: changed,
          Parameters: [
            { ParameterKey: 'WebhookOriginZone', ParameterValue: '2' },
            { ParameterKey: 'Gone', ParameterValue: 'x' },
          ],
          Outputs: [
            { OutputKey: 'WebhookOriginAddress', OutputValue: '203.0.113.7' },
            { OutputKey: 'OperationsFunctionName', OutputValue: 'WalletEu-RunOperation' },
          ],
          ...more,
        },
      ],
    }),
});

export const withoutStacks: Replies = {
  'cloudformation:DescribeStacks': ({ input }) =>
    refusal('ValidationError', `Stack with id ${input.StackName} does not exist`),
};

/** The AWS of a test file: the SDK's variables lead to it. @returns the account, within a test */
export function localAccount(): () => LocalAccount {
  let account: LocalAccount;
  let restore: () => void;
  beforeAll(async () => {
    account = await startAccount();
    restore = setVariables(accountVariables(account.url));
  });
  afterAll(async () => {
    restore();
    await account.close();
  });
  return () => account;
}

/** What leads the SDK to an account, in this process or in another. */
export const accountVariables = (url: string): Readonly<Record<string, string | undefined>> => ({
  AWS_ENDPOINT_URL: url,
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_PROFILE: undefined,
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_MAX_ATTEMPTS: '1',
});
