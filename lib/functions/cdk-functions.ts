import { type CfnResource, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { CfnFunction, IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

const architectures = ['arm64'];

/** Runs a function of the CDK on arm64, like our own. */
export function runOnArm(lambda: IFunction): void {
  (lambda.node.defaultChild as CfnFunction).architectures = architectures;
}

/**
 * The CDK empties a VPC's default security group with a function that it makes itself, whose log never expires
 * and whose role may write any log of the account. Here both are held to what our own functions have.
 */
export function restrictDefaultSecurityGroupFunction(scope: Construct, retention: RetentionDays): void {
  const provider = Stack.of(scope).node.findChild('Custom::VpcRestrictDefaultSGCustomResourceProvider');
  const logGroup = new LogGroup(scope, 'RestrictDefaultSecurityGroupLog', {
    retention,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const handler = provider.node.findChild('Handler') as CfnResource;
  handler.addPropertyOverride('Architectures', architectures);
  handler.addPropertyOverride('LoggingConfig', { LogFormat: 'JSON', LogGroup: logGroup.logGroupName });
  const role = provider.node.findChild('Role') as CfnResource;
  // The CDK makes both without tags, and cannot add any.
  const tags = Object.entries(Stack.of(scope).tags.tagValues()).map(([Key, Value]) => ({ Key, Value }));
  for (const resource of [handler, role]) resource.addPropertyOverride('Tags', tags);
  role.addPropertyDeletionOverride('ManagedPolicyArns');
  role.addPropertyOverride('Policies.1', {
    PolicyName: 'Log',
    PolicyDocument: {
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Allow',
          Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
          Resource: [logGroup.logGroupArn],
        },
      ],
    },
  });
}
