import { Aspects, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { CfnLogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Environment } from '../environment/schema';
import { withStableLogicalId } from '../stable-logical-id';

/** Encrypts every log group of the stack and its alarms' topic. Retained, because some log groups are. */
export class OperationsKey extends Key {
  constructor(scope: Construct, id: string, { environment }: { readonly environment: Environment }) {
    super(scope, id, {
      description: `Logs and alarms of ${environment.name}`,
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    withStableLogicalId(this, 'OperationsKey');
    const stack = Stack.of(this);
    // https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
    const logGroups = stack.formatArn({ service: 'logs', resource: 'log-group:*' });
    this.allow(
      `logs.${stack.region}.amazonaws.com`,
      ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey*', 'kms:ReEncrypt*'],
      { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': logGroups } },
    );
    // Includes log groups added later.
    Aspects.of(stack).add({
      visit: (node) => {
        if (node instanceof CfnLogGroup) node.kmsKeyId = this.keyArn;
      },
    });
  }

  /** https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html#compatibility-with-aws-services */
  allowAlarms(): void {
    this.allow('cloudwatch.amazonaws.com', ['kms:Decrypt', 'kms:GenerateDataKey*'], {
      StringEquals: { 'aws:SourceAccount': Stack.of(this).account },
    });
  }

  private allow(service: string, actions: string[], conditions: Record<string, object>): void {
    const principals = [new ServicePrincipal(service)];
    // In a key policy, `*` means the key itself.
    this.addToResourcePolicy(new PolicyStatement({ principals, actions, resources: ['*'], conditions }));
  }
}
