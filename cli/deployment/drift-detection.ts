import { setTimeout as pause } from 'node:timers/promises';
import type { StackResourceDrift, StackResourceDriftStatus } from '@aws-sdk/client-cloudformation';
import { callAws, required } from '../aws';
import { CommandFailed } from '../failure';
import { collect } from '../pages';
import type { StackApi } from './deployed-stack';

export interface DetectOptions {
  /** Seconds. */
  readonly timeout: number;
  /** Seconds between questions. */
  readonly interval: number;
}

/** One property that differs, or the resource as a whole when it is gone or CloudFormation could not compare it. */
export interface Difference {
  readonly stack: string;
  readonly logicalId: string;
  readonly type: string;
  /** CloudFormation's JSON pointer; empty for the resource as a whole. */
  readonly property: string;
  readonly expected: string;
  readonly actual: string;
}

/**
 * @returns what kept CloudFormation from comparing every resource; the results of the others are there
 * (https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStackDriftDetectionStatus.html)
 */
export async function detectDrift(
  api: StackApi,
  { timeout, interval: seconds }: DetectOptions,
): Promise<CommandFailed | undefined> {
  const { DescribeStackDriftDetectionStatusCommand, DetectStackDriftCommand } = await import(
    '@aws-sdk/client-cloudformation'
  );
  const { cloudFormation, stackId } = api;
  const action = 'cloudformation:DetectStackDrift';
  const { StackDriftDetectionId: id } = await callAws(api, action, (call) =>
    cloudFormation.send(new DetectStackDriftCommand({ StackName: stackId }), call),
  );
  const request = new DescribeStackDriftDetectionStatusCommand({
    StackDriftDetectionId: required(action, 'StackDriftDetectionId', id),
  });
  for (const giveUp = Date.now() + timeout * 1000; Date.now() < giveUp; await pause(seconds * 1000)) {
    const { DetectionStatus, DetectionStatusReason } = await callAws(
      api,
      'cloudformation:DescribeStackDriftDetectionStatus',
      (call) => cloudFormation.send(request, call),
    );
    if (DetectionStatus === 'DETECTION_COMPLETE') return undefined;
    if (DetectionStatus === 'DETECTION_FAILED')
      return new CommandFailed(
        `CloudFormation could not compare all of ${stackId}: ${DetectionStatusReason ?? 'no reason is given'}.`,
        'The caller needs to read every resource of the stack.',
      );
  }
  throw new CommandFailed(
    `The comparison of ${stackId} still runs after ${timeout / 60} minutes.`,
    'Run it again with a longer --timeout.',
  );
}

export async function differencesOf(api: StackApi): Promise<readonly Difference[]> {
  const { paginateDescribeStackResourceDrifts } = await import('@aws-sdk/client-cloudformation');
  const drifted: StackResourceDriftStatus[] = ['MODIFIED', 'DELETED', 'UNKNOWN'];
  const query = { StackName: api.stackId, StackResourceDriftStatusFilters: drifted };
  const drifts = await callAws(api, 'cloudformation:DescribeStackResourceDrifts', (call) =>
    collect(
      paginateDescribeStackResourceDrifts({ client: api.cloudFormation }, query, call),
      (page) => page.StackResourceDrifts,
    ),
  );
  return drifts.flatMap((resource) => differencesIn(api.stackId, resource));
}

function differencesIn(stack: string, drifted: StackResourceDrift): readonly Difference[] {
  const { LogicalResourceId: logicalId = '', ResourceType: type = '', PropertyDifferences = [] } = drifted;
  const whole = { stack, logicalId, type, property: '', expected: 'as in the template' };
  const { StackResourceDriftStatus: status, DriftStatusReason: reason = 'no reason is given' } = drifted;
  if (status === 'DELETED') return [{ ...whole, actual: 'deleted' }];
  if (status === 'UNKNOWN') return [{ ...whole, actual: `unknown (${reason})` }];
  if (PropertyDifferences.length === 0) return [{ ...whole, actual: 'modified' }];
  return PropertyDifferences.map(({ PropertyPath = '', ExpectedValue = '', ActualValue = '' }) => ({
    ...whole,
    property: PropertyPath,
    expected: ExpectedValue,
    actual: ActualValue,
  }));
}
