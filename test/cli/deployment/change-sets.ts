import { type Replies, result } from '../local-account';

/** CloudFormation answers a change set with these changes; S3 takes its template. */
export const changeSetOf = (changes: readonly object[], pages = 1): Replies => ({
  's3:*': () => result({}),
  'cloudformation:CreateChangeSet': () => result({ Id: 'arn:aws:cloudformation:eu-central-1:1:changeSet/x' }),
  'cloudformation:DeleteChangeSet': () => result({}),
  'cloudformation:DescribeChangeSet': ({ input }) => {
    const page = Number(input.NextToken ?? 0);
    const size = Math.ceil(changes.length / pages);
    return result({
      Status: 'CREATE_COMPLETE',
      Changes: changes
        .slice(page * size, (page + 1) * size)
        .map((change) => ({ Type: 'Resource', ResourceChange: change })),
      NextToken: page + 1 < pages ? String(page + 1) : undefined,
    });
  },
});

/** A change of each kind, of what holds state and of what does not. */
export const changes = [
  { Action: 'Add', LogicalResourceId: 'NewFunction', ResourceType: 'AWS::Lambda::Function' },
  {
    Action: 'Modify',
    LogicalResourceId: 'DeleteUserGroup',
    ResourceType: 'AWS::Lambda::Function',
    Replacement: 'False',
    Details: [
      {
        Target: {
          Attribute: 'Properties',
          Name: 'Timeout',
          Path: '/Properties/Timeout',
          BeforeValue: '28',
          AfterValue: '2<8|',
          RequiresRecreation: 'Never',
        },
      },
    ],
  },
  {
    Action: 'Modify',
    LogicalResourceId: 'DatabaseCluster',
    ResourceType: 'AWS::RDS::DBCluster',
    Replacement: 'True',
    PolicyAction: 'ReplaceAndRetain',
    Details: [{ Target: { Attribute: 'Properties', Name: 'DatabaseName', RequiresRecreation: 'Always' } }],
  },
  {
    Action: 'Modify',
    LogicalResourceId: 'WebhookEventsQueue',
    ResourceType: 'AWS::SQS::Queue',
    Replacement: 'Conditional',
    Details: [
      {
        CausingEntity: 'X.Arn',
        Target: { Attribute: 'Properties', Name: 'QueueName', RequiresRecreation: 'Conditionally' },
      },
    ],
  },
  {
    Action: 'Remove',
    LogicalResourceId: 'DatabaseKey',
    ResourceType: 'AWS::KMS::Key',
    PolicyAction: 'Retain',
  },
  {
    Action: 'Remove',
    LogicalResourceId: 'OldSecret',
    ResourceType: 'AWS::SecretsManager::Secret',
    PolicyAction: 'Delete',
  },
  {
    Action: 'Remove',
    LogicalResourceId: 'OldAlarm',
    ResourceType: 'AWS::CloudWatch::Alarm',
    PolicyAction: 'Delete',
  },
  { Action: 'Dynamic', LogicalResourceId: 'WebhookOriginElasticIp', ResourceType: 'AWS::EC2::EIP' },
  { Action: 'Import', LogicalResourceId: 'Imported', ResourceType: 'AWS::SQS::Queue' },
];
