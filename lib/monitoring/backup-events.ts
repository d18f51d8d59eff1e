import { Duration } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as EventTarget } from 'aws-cdk-lib/aws-events-targets';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { keepActiveEvent } from '../../lambda/shared/variables';

export interface BackupEventsProps {
  readonly vaultArn: string;
  /** Identifies the restore testing plan. */
  readonly drillArn: string;
  /** Ignores `keepActiveEvent`. */
  readonly target: IFunction;
}

/**
 * Counts copies and drills by AWS Backup's events, which it sends best effort: a second witness beside its metrics, one of which is
 * documented for copies into other accounts and regions.
 */
export class BackupEvents extends Construct {
  private readonly rules: Readonly<Record<'Copy' | 'Restore', Rule>>;

  constructor(scope: Construct, id: string, { vaultArn, drillArn, target }: BackupEventsProps) {
    super(scope, id);
    const rule = (jobs: 'Copy' | 'Restore', description: string, detail: Record<string, readonly string[]>) =>
      new Rule(this, jobs, {
        description,
        eventPattern: {
          source: ['aws.backup'],
          detailType: [`${jobs} Job State Change`],
          detail: { [jobs === 'Copy' ? 'state' : 'status']: ['COMPLETED'], ...detail },
        },
        // Without a target, a rule's metrics are undocumented. This one does nothing.
        targets: [
          new EventTarget(target, {
            event: RuleTargetInput.fromObject(keepActiveEvent),
            retryAttempts: 0,
            maxEventAge: Duration.minutes(5),
          }),
        ],
      });
    // Fields as in AWS's sample events, of which some have a state, others a status; a drill's have its plan:
    // https://docs.aws.amazon.com/aws-backup/latest/devguide/eventbridge.html
    this.rules = {
      Copy: rule('Copy', 'A backup has reached the air-gapped vault', {
        destinationBackupVaultArn: [vaultArn],
      }),
      Restore: rule('Restore', 'A drill has restored a backup', { restoreTestingPlanArn: [drillArn] }),
    };
  }

  /** https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-monitoring.html: failed invocations count as well. */
  metric(jobs: 'Copy' | 'Restore', period: Duration): Metric {
    const dimensionsMap = { RuleName: this.rules[jobs].ruleName };
    const invocations = { namespace: 'AWS/Events', metricName: 'Invocations', dimensionsMap };
    return new Metric({ ...invocations, period, statistic: 'Sum' });
  }
}
