/**
 * Detects drift in an environment's deployed stacks, and fails if there is any: `.ci/detect-drift.ts ENVIRONMENT`. `cdk drift` gives
 * up after 300 s: https://github.com/aws/aws-cdk-cli/blob/main/packages/@aws-cdk/toolkit-lib/lib/api/drift/drift.ts
 */
import type { CloudFormation, StackResourceDrift } from '@aws-sdk/client-cloudformation';
import { callAws, callAwsPages } from '../cli/shell/aws';
import { findDeployed, openCloudFormation } from '../cli/shell/deployed-stack';
import { poll } from '../cli/shell/poll';
import { stacks, type TableStack } from '../lib/environments';
import { step, summarize } from './github';

/** The workflow's job ends first. */
const patience = { seconds: 3_600, every: 2_000 };

/** Types that CloudFormation cannot compare: its handler reads the secret's value, which the role may not. */
const unreadable = ['AWS::SecretsManager::Secret'];

/**
 * A cluster that began as a replica keeps the global database in its template, and RDS says which one it is in now:
 * https://github.com/aws-cloudformation/aws-cloudformation-resource-providers-rds/pull/613. A promotion may detach it.
 */
function isFormerReplica({ environment, stackId }: TableStack, drift: StackResourceDrift): boolean {
  const { ResourceType, PropertyDifferences = [] } = drift;
  const [first, ...others] = PropertyDifferences;
  return (
    environment.stackId === stackId &&
    environment.database.replicaOf !== undefined &&
    ResourceType === 'AWS::RDS::DBCluster' &&
    first?.PropertyPath === '/GlobalClusterIdentifier' &&
    others.length === 0
  );
}

/** @returns what has drifted or could not be compared, and what is expected, a line each */
async function detectDrift(client: CloudFormation, stack: TableStack) {
  const { stackId: StackName } = stack;
  const { StackDriftDetectionId } = await callAws(client, 'detectStackDrift', { StackName });
  const input = { StackDriftDetectionId };
  const detection = await poll(async () => {
    const status = await callAws(client, 'describeStackDriftDetectionStatus', input);
    return status.DetectionStatus === 'DETECTION_IN_PROGRESS' ? undefined : status;
  }, patience);
  const pages = await callAwsPages(client, 'describeStackResourceDrifts', {
    StackName,
    // All but IN_SYNC and NOT_CHECKED, which is a type without drift detection.
    StackResourceDriftStatusFilters: ['MODIFIED', 'DELETED', 'UNKNOWN'],
  });
  const found = pages.flatMap(({ StackResourceDrifts = [] }) => StackResourceDrifts);
  const isUnreadable = ({ ResourceType = '', StackResourceDriftStatus: status }: StackResourceDrift) =>
    status === 'UNKNOWN' && unreadable.includes(ResourceType);
  const isExpected = (drift: StackResourceDrift) => isUnreadable(drift) || isFormerReplica(stack, drift);
  const failure = `The detection failed: ${detection?.DetectionStatusReason ?? 'it did not end'}.`;
  return {
    drifts: [
      ...found.filter((drift) => !isExpected(drift)).map(formatDrift),
      ...(detection?.DetectionStatus === 'DETECTION_COMPLETE' ? [] : [failure]),
    ],
    expected: found.filter(isExpected).map(formatDrift),
  };
}

function formatDrift(drift: StackResourceDrift): string {
  const { LogicalResourceId, ResourceType, StackResourceDriftStatus: status, DriftStatusReason } = drift;
  const values = drift.PropertyDifferences?.map(
    ({ PropertyPath, ExpectedValue, ActualValue }) =>
      `${PropertyPath} is ${ActualValue} instead of ${ExpectedValue}`,
  );
  const details = [...(values ?? []), ...(DriftStatusReason ? [DriftStatusReason] : [])];
  return `${LogicalResourceId} (${ResourceType}) is ${status?.toLowerCase()}${details.map((each) => `; ${each}`).join('')}`;
}

export async function run(name: string): Promise<void> {
  const own = stacks.filter(({ environment }) => environment.name === name);
  for (const stack of own) {
    const { stackId, region } = stack;
    const client = await openCloudFormation(region);
    if (!(await findDeployed(client, stackId))) {
      summarize(`Skipped ${stackId}: it is not deployed.`);
      continue;
    }
    const { drifts, expected } = await detectDrift(client, stack);
    summarize(drifts.length > 0 ? `**${stackId} has drifted:**` : `${stackId} has no drift.`);
    for (const each of drifts) summarize(`- ${each}`);
    if (expected.length > 0) summarize('Nobody needs to act on:');
    for (const each of expected) summarize(`- ${each}`);
    if (drifts.length > 0) process.exitCode = 1;
  }
}

step(module, run);
