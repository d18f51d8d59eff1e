import { Construct } from 'constructs';
import { ReplicaCluster } from '../database/replica-cluster';
import {
  type Environment,
  promoted,
  recordedArn,
  type SharedKey,
  type Standby,
  sharedKeysOf,
} from '../environment/schema';
import { Alarms } from '../monitoring/alarms';
import { standbyReplication } from '../monitoring/database-alarms';
import { OperationsKey } from '../monitoring/operations-key';
import { Network } from '../network/network';
import { createSharedKey } from '../shared-key';
import { EnvironmentStack, type EnvironmentStackProps } from './environment-stack';

export interface StandbyStackProps extends EnvironmentStackProps {
  readonly environment: Environment & { readonly standby: Standby };
}

/**
 * The second region of an environment: a network and replicas of the data and of the keys, without the service. Uses
 * `RegionStack`'s logical ids, so that a promotion is an update.
 */
export class StandbyStack extends EnvironmentStack {
  constructor(scope: Construct, { environment: serving, account }: StandbyStackProps) {
    const { standby } = serving;
    const environment = promoted(serving);
    super(scope, `standby of ${environment.title}`, { environment, account });

    const key = new OperationsKey(this, 'OperationsKey', { environment });
    const { vpc } = new Network(this, 'Network', { environment, isStandby: true });
    // The same scope as in `RegionStack`, for the same logical ids.
    const scopeOfCluster = new Construct(this, 'Database');
    const replica = new ReplicaCluster(scopeOfCluster, 'Cluster', { environment, standby, vpc });
    const keys = this.replicateKeys(environment);
    if (environment.serviceLevelAgreement) {
      const alarms = [standbyReplication(replica.identifier, serving.region)];
      const scopeOfAlarms = new Construct(this, 'Monitoring');
      const { topic } = new Alarms(scopeOfAlarms, 'Alarms', { environment, key, alarms });
      this.addOutputs({ AlarmTopicArn: ['SNS topic to which alarms are published', topic.topicArn] });
    }
    // The first key of each purpose signs.
    const arnOf = (purpose: SharedKey['purpose']) => keys.find((each) => each.purpose === purpose)?.arn ?? '';
    this.addOutputs({
      DatabaseClusterArn: ['The Aurora cluster that a promotion makes the primary', replica.arn],
      GlobalClusterIdentifier: ['The global database of the cluster', standby.globalClusterIdentifier],
      ...(keys.length > 0 && {
        WebhookSecretsKeyArn: ['Derives webhook secrets after a promotion', arnOf('webhookSecrets')],
        TokenSigningKeyArn: ['Signs access tokens after a promotion', arnOf('accessToken')],
        UserActionSigningKeyArn: ['Signs user actions after a promotion', arnOf('userAction')],
      }),
    });
  }

  private replicateKeys(environment: Environment): readonly (SharedKey & { readonly arn: string })[] {
    const { keyReplicas, adoptedKeys } = environment;
    return sharedKeysOf(environment)
      .filter((key) => recordedArn(keyReplicas, key) ?? recordedArn(adoptedKeys, key))
      .map((key) => ({ ...key, arn: createSharedKey(this, environment, key) }));
  }
}
