import { Aspects, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { CfnLogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Environment } from '../environment';
import { withStableLogicalId } from '../stable-logical-id';

export interface OperationsKeyProps {
  readonly environment: Environment;
}

/**
 * Encrypts what operators read: every log group of the stack, and alarms on their way. It outlives the stack, as
 * some logs do.
 */
export class OperationsKey extends Key {
  constructor(scope: Construct, id: string, { environment }: OperationsKeyProps) {
    super(scope, id, {
      description: `Logs and alarms of ${environment.name}`,
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    withStableLogicalId(this, 'OperationsKey');
    const stack = Stack.of(this);
    // https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
    this.admit(
      `logs.${stack.region}.amazonaws.com`,
      ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey*', 'kms:ReEncrypt*'],
      {
        ArnLike: {
          'kms:EncryptionContext:aws:logs:arn': stack.formatArn({ service: 'logs', resource: 'log-group:*' }),
        },
      },
    );
    // Log groups that are added later are encrypted too.
    Aspects.of(stack).add({
      visit: (node) => {
        if (node instanceof CfnLogGroup) node.kmsKeyId = this.keyArn;
      },
    });
  }

  /** Lets alarms of this account be published to a topic that the key encrypts. */
  admitAlarms(): void {
    // https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html#compatibility-with-aws-services
    this.admit('cloudwatch.amazonaws.com', ['kms:Decrypt', 'kms:GenerateDataKey*'], {
      StringEquals: { 'aws:SourceAccount': Stack.of(this).account },
    });
  }

  private admit(
    service: string,
    actions: string[],
    conditions: Record<string, Record<string, string>>,
  ): void {
    this.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal(service)],
        actions,
        resources: ['*'],
        conditions,
      }),
    );
  }
}
