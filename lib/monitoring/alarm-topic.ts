import { Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import type { Environment } from '../environment';
import type { OperationsKey } from './operations-key';

export interface AlarmTopicProps {
  readonly environment: Environment;
  readonly key: OperationsKey;
}

/**
 * Receives every alarm of a stack; the people on call subscribe. Encrypted with a key of the stack, because
 * CloudWatch may not use the one of SNS.
 * https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html#compatibility-with-aws-services
 */
export class AlarmTopic extends Topic {
  constructor(scope: Construct, id: string, { environment, key }: AlarmTopicProps) {
    super(scope, id, { displayName: `Alarms of ${environment.name}`, masterKey: key, enforceSSL: true });
    key.admitAlarms();
    this.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    if (environment.alarmEmail !== undefined) {
      this.addSubscription(new EmailSubscription(environment.alarmEmail));
    }
  }
}
