import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as EventTarget } from 'aws-cdk-lib/aws-events-targets';
import { Construct } from 'constructs';
import { keepActiveEvent } from '../../lambda/shared/variables';
import type { AlarmRow, Watched } from './alarms';
import { awsMetric } from './metrics';

/**
 * The alarm watches the copy into the vault. Aurora's backup job only takes a temporary snapshot, and succeeds even if the copy fails.
 * https://docs.aws.amazon.com/aws-backup/latest/devguide/lag-vault-primary-backup.html
 *
 * An alarm needs the exact combination of dimensions, but AWS documents only their names, and the metric of copies only for other
 * accounts and regions. The alarm therefore adds up all candidates, and AWS Backup's events, which are best effort. A candidate that
 * does not exist counts as zero (undocumented, see metrics.ts), so the alarm fires when none saw a job. A copy's metric has the name
 * of its destination.
 * https://docs.aws.amazon.com/aws-backup/latest/devguide/cloudwatch.html
 */
export function backupAlarms(scope: Construct, { backups, webhooks }: Watched): readonly AlarmRow[] {
  const { vaultName, vaultArn, drillArn } = backups;
  const scopeOfRules = new Construct(scope, 'BackupEvents');
  const completed = (
    jobs: 'Copy' | 'Restore',
    period: Duration,
    description: string,
    detail: Readonly<Record<string, readonly string[]>>,
  ) => {
    const { ruleName } = new Rule(scopeOfRules, jobs, {
      description,
      eventPattern: { source: ['aws.backup'], detailType: [`${jobs} Job State Change`], detail },
      // Without a target, a rule's metrics are undocumented. This function ignores the event.
      targets: [
        new EventTarget(webhooks.purgeExpired, {
          event: RuleTargetInput.fromObject(keepActiveEvent),
          retryAttempts: 0,
          maxEventAge: Duration.minutes(5),
        }),
      ],
    });
    const options = { period, statistic: 'Sum' };
    const metricName = `NumberOf${jobs}JobsCompleted`;
    const ofVault = { BackupVaultName: vaultName };
    return new MathExpression({
      expression: 'all + ofType + events',
      usingMetrics: {
        all: awsMetric('Backup', metricName, ofVault, options),
        ofType: awsMetric('Backup', metricName, { ...ofVault, ResourceType: 'Aurora' }, options),
        // Failed invocations count as well: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-monitoring.html
        events: awsMetric('Events', 'Invocations', { RuleName: ruleName }, options),
      },
      period,
    });
  };
  const missing = {
    comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
    threshold: 1,
    treatMissingData: TreatMissingData.BREACHING,
  };
  // Fields as in AWS's sample events, of which some have a state, others a status; a drill's have its plan:
  // https://docs.aws.amazon.com/aws-backup/latest/devguide/eventbridge.html
  return [
    {
      name: 'backup-copy',
      description: 'For 28 hours no backup of the database has reached the vault that nobody can empty.',
      metric: completed('Copy', Duration.hours(1), 'A backup has reached the air-gapped vault', {
        state: ['COMPLETED'],
        destinationBackupVaultArn: [vaultArn],
      }),
      // A day, and what start and copy may vary by.
      evaluationPeriods: 28,
      ...missing,
      unit: 'in an hour; one a day is right',
    },
    {
      name: 'restore-drill',
      description: 'For six days no backup of the database has been restored as a drill.',
      metric: completed('Restore', Duration.days(1), 'A drill has restored a backup', {
        status: ['COMPLETED'],
        restoreTestingPlanArn: [drillArn],
      }),
      // An alarm looks back seven days at most.
      // https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
      evaluationPeriods: 6,
      ...missing,
      unit: 'in a day; one in three days is right',
    },
  ];
}
