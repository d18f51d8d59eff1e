import { withDirectAccess, withStandby } from '../../support/rows';
import { type Replies, refusal, result } from '../preflight/account';
import { wallet } from '../region';
import { localAccount, withoutStacks, withStacks } from './deployed';

const account = localAccount();

const drift = (...args: string[]) => wallet('drift', '--interval', '0.001', ...args);

/** CloudFormation finds these drifts in the stack of each region, after one question too early. */
function detecting(drifts: Readonly<Record<string, readonly object[]>>, status: object = {}): Replies {
  let asked = 0;
  return {
    'cloudformation:DetectStackDrift': () => result({ StackDriftDetectionId: 'detection' }),
    'cloudformation:DescribeStackDriftDetectionStatus': () =>
      result({
        StackId: 'x',
        StackDriftDetectionId: 'detection',
        Timestamp: new Date(),
        DetectionStatus: asked++ === 0 ? 'DETECTION_IN_PROGRESS' : 'DETECTION_COMPLETE',
        ...status,
      }),
    'cloudformation:DescribeStackResourceDrifts': ({ region }) =>
      result({ StackResourceDrifts: drifts[region] ?? [] }),
  };
}

const modified = {
  LogicalResourceId: 'WebhookDeliveryQueue',
  ResourceType: 'AWS::SQS::Queue',
  StackResourceDriftStatus: 'MODIFIED',
  PropertyDifferences: [
    {
      PropertyPath: '/VisibilityTimeout',
      ExpectedValue: '270',
      ActualValue: '30',
      DifferenceType: 'NOT_EQUAL',
    },
  ],
};

it('compares every stack of the environment, each in its region', async () => {
  account().answer(withStacks(), detecting({}));
  expect(await drift('--environment', withStandby.name)).toMatchObject({
    exitCode: 0,
    stdout: 'No drift in 2 stacks.\n',
  });
  const compared = account().calls.filter(({ action }) => action === 'DetectStackDrift');
  expect(compared.map(({ region, input }) => [region, input.StackName]).sort()).toEqual([
    [withStandby.region, withStandby.stackId],
    [withStandby.standby.region, withStandby.standby.stackId],
  ]);
  const asked = account().calls.find(({ action }) => action === 'DescribeStackResourceDrifts');
  expect(asked?.input.StackResourceDriftStatusFilters).toEqual(['MODIFIED', 'DELETED', 'UNKNOWN']);
});

it('fails with the resources and properties that differ', async () => {
  const gone = {
    LogicalResourceId: 'Key',
    ResourceType: 'AWS::KMS::Key',
    StackResourceDriftStatus: 'DELETED',
  };
  const unexplained = { ...gone, StackResourceDriftStatus: 'MODIFIED', PropertyDifferences: [] };
  account().answer(
    withStacks(),
    detecting({ [withStandby.region]: [modified, unexplained], [withStandby.standby.region]: [gone] }),
  );
  const { exitCode, stdout, stderr } = await drift('--environment', withStandby.name);
  expect({ exitCode, lines: stdout.trimEnd().split('\n') }).toEqual({
    exitCode: 1,
    lines: [
      'WalletEu WebhookDeliveryQueue (AWS::SQS::Queue)/VisibilityTimeout: expected 270, is 30',
      'WalletEu Key (AWS::KMS::Key): expected as in the template, is modified',
      'WalletEuStandby Key (AWS::KMS::Key): expected as in the template, is deleted',
    ],
  });
  expect(stderr).toContain('3 properties of eu differ from the template.');
});

it('prints JSON', async () => {
  account().answer(withStacks(), detecting({ [withDirectAccess.region]: [modified] }));
  const { exitCode, stdout } = await drift('--environment', withDirectAccess.name, '--json');
  expect({ exitCode, found: JSON.parse(stdout) }).toEqual({
    exitCode: 1,
    found: [
      {
        stack: withDirectAccess.stackId,
        logicalId: 'WebhookDeliveryQueue',
        type: 'AWS::SQS::Queue',
        property: '/VisibilityTimeout',
        expected: '270',
        actual: '30',
      },
    ],
  });
});

it.each<[string, Replies, string]>([
  [
    'CloudFormation may not read a resource',
    detecting({}, { DetectionStatus: 'DETECTION_FAILED', DetectionStatusReason: 'kms:DescribeKey' }),
    `could not compare all of ${withDirectAccess.stackId}: kms:DescribeKey.`,
  ],
  [
    'the comparison does not end',
    detecting({}, { DetectionStatus: 'DETECTION_IN_PROGRESS' }),
    'still runs after',
  ],
  [
    'the stack is not deployed',
    withoutStacks,
    `There is no stack ${withDirectAccess.stackId} in ${withDirectAccess.region}.`,
  ],
  [
    'the call is refused',
    { 'cloudformation:DetectStackDrift': () => refusal('AccessDenied') },
    'cloudformation:DetectStackDrift was refused',
  ],
])('fails when %s', async (_, replies, message) => {
  account().answer(replies, withStacks());
  const { exitCode, stdout, stderr } = await drift('--environment', withDirectAccess.name, '--timeout', '1s');
  expect({ exitCode, stdout, stderr }).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining(message),
  });
  expect(stderr).toContain('Not every stack could be compared.');
});

it('tells what it found when CloudFormation could not compare every resource of the stack', async () => {
  const unread = {
    LogicalResourceId: 'Key',
    ResourceType: 'AWS::KMS::Key',
    StackResourceDriftStatus: 'UNKNOWN',
    DriftStatusReason: 'throttled',
  };
  const drifts = { [withDirectAccess.region]: [modified, unread] };
  account().answer(withStacks(), detecting(drifts, { DetectionStatus: 'DETECTION_FAILED' }));
  const { exitCode, stdout, stderr } = await drift('--environment', withDirectAccess.name);
  expect({ exitCode, lines: stdout.trimEnd().split('\n') }).toEqual({
    exitCode: 1,
    lines: [
      expect.stringContaining('/VisibilityTimeout: expected 270, is 30'),
      expect.stringContaining('Key (AWS::KMS::Key): expected as in the template, is unknown (throttled)'),
    ],
  });
  expect(stderr).toContain('could not compare all of');
});

it('tells what it found in one stack when another cannot be compared', async () => {
  const replies = detecting({ [withStandby.region]: [modified] });
  account().answer(
    {
      ...replies,
      'cloudformation:DetectStackDrift': ({ region }) =>
        region === withStandby.standby.region
          ? refusal('AccessDenied')
          : result({ StackDriftDetectionId: 'detection' }),
    },
    withStacks(),
  );
  const { exitCode, stdout } = await drift('--environment', withStandby.name);
  expect({ exitCode, stdout }).toEqual({
    exitCode: 1,
    stdout: expect.stringContaining('expected 270, is 30'),
  });
});
