import { type Replies, refusal, result } from '../local-account';

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
