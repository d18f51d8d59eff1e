import { type Replies, refusal, result } from './local-account';

/** An account with stacks, last changed at `changed`. */
export const withStacks = (changed = '2026-11-20T12:00:00.000Z', more: object = {}): Replies => ({
  'cloudformation:DescribeStacks': ({ input, region }) =>
    result({
      Stacks: [
        {
          StackId: `arn:aws:cloudformation:${region}:111122223333:stack/${input.StackName}/0f0f0f0f-0000-4000-8000-000000000000`,
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
            { OutputKey: 'OperationsFunctionName', OutputValue: 'RunOperation' },
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

/** CloudFormation returns these changes, a page each, or this response; S3 accepts the template. */
export const changeSetOf = (changes: readonly object[], status: object = {}): Replies => ({
  's3:*': () => result({}),
  'cloudformation:CreateChangeSet': () => result({ Id: 'arn:aws:cloudformation:eu-central-1:1:changeSet/x' }),
  'cloudformation:DeleteChangeSet': () => result({}),
  'cloudformation:DescribeChangeSet': ({ input }) => {
    const page = Number(input.NextToken ?? 0);
    return result({
      Status: 'CREATE_COMPLETE',
      Changes: changes.slice(page, page + 1).map((ResourceChange) => ({ Type: 'Resource', ResourceChange })),
      NextToken: page + 1 < changes.length ? String(page + 1) : undefined,
      ...status,
    });
  },
});
