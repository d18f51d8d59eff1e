import { Aws, CfnResource, Validations } from 'aws-cdk-lib';
import { CfnPermission, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnLogGroup } from 'aws-cdk-lib/aws-logs';
import type { IConstruct } from 'constructs';

/** The namespace of AWS Control Tower's proactive rules. */
export const controlTower = 'Control-Tower';

/**
 * Accepted findings of the rule packs, by resource, with reasons for reviewers. Rules are named as in the reports; one without a
 * pack is NIST 800-53's, and `CT.…` is one of AWS Control Tower's: test/tools/control-tower.tool.ts.
 */
const acknowledgements = {
  // API Gateway
  api: {
    'AwsSolutions-APIG2':
      "The function checks path, query, headers and body of every request, in the documented order and with the documented codes. The gateway's validator cannot check patterns of path parameters, and would respond first, with other codes.",
  },
  page: {
    'AwsSolutions-APIG2': 'There is nothing to validate: every request gets the same page.',
  },
  logRole: {
    'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
      'API Gateway requires this policy (https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html): the role is account-wide, for the access logs of every API in the region.',
  },
  stage: {
    'AwsSolutions-APIG6 APIGWExecutionLoggingEnabled CT.APIGATEWAY.PR.1':
      'Execution logs contain request bodies and access tokens. The access log has the source address, route, time, status, latencies and error type of every request.',
    APIGWCacheEnabledAndEncrypted:
      'Deletions must not be cached. The other responses are small documents from the gateway itself or from memory.',
    'CT.APIGATEWAY.PR.2':
      "X-Ray would store every sampled request's path and user agent, a caller's text, for 30 days. The access log has the latencies of gateway, authorizer and function for every request, without them.",
    APIGWSSLEnabled:
      'A client certificate authenticates the gateway to an HTTP backend. There is none: API Gateway invokes functions through IAM.',
  },
  domainName: {
    'CT.APIGATEWAY.PR.6':
      'The rule knows TLS_1_2 only. The policy here is newer: TLS 1.2 and 1.3, with forward secrecy.',
  },
  stageWithoutLog: {
    'AwsSolutions-APIG1':
      "A disposable environment's access log would need a role that is one setting for all APIs of the account and region, and that would be deleted with the stack.",
  },
  methodWithToken: {
    'AwsSolutions-COG4':
      "The service specifies its own access tokens: JWTs signed by the region's keys. The method's authorizer verifies them.",
  },
  methodWithSignature: {
    'AwsSolutions-APIG4 AwsSolutions-COG4':
      "The environment's own receiver: the caller is the service itself, and the function verifies the webhook's signature, its age and its source address. A token would be a second secret. A throttle of its own and the firewall protect it.",
  },
  publicMethod: {
    'AwsSolutions-APIG4 AwsSolutions-COG4':
      'Public on purpose: it returns public facts, such as the webhook origin address, to receivers that have no token. The firewall and the throttle protect it.',
  },

  permission: {
    'CT.LAMBDA.PR.2':
      'The source is one method or authorizer of one API of this account: an ARN that CloudFormation joins, which the rule cannot read.',
  },

  // Functions, by what invokes them
  gateway: {
    LambdaConcurrency:
      "The API stage's throttle bounds it. Reserved concurrency would be taken from the account's other functions, and would reject bursts that the throttle admits.",
    LambdaDLQ:
      'API Gateway invokes it synchronously: the caller receives the error, and there is no event to keep.',
  },
  queue: {
    LambdaConcurrency:
      'The MaximumConcurrency of its event source bounds it. With a limit on the function, SQS would count every throttled attempt as a receive of the message.',
    LambdaDLQ:
      'Its event source is a queue: failed messages stay there until they reach its dead-letter queue.',
  },
  schedule: {
    LambdaConcurrency: 'One rule invokes it, at most every five minutes, and concurrent runs are harmless.',
    LambdaDLQ: 'The next run does what a failed one did not, so a lost event does no harm.',
  },
  deployment: {
    'LambdaConcurrency LambdaDLQ':
      'Only CloudFormation invokes it: synchronously, a few times per deployment. If it fails, the deployment fails with its error.',
  },
  operator: {
    'LambdaConcurrency LambdaDLQ':
      'Only operators with the IAM permission invoke it: synchronously, one command at a time. The command shows the error.',
  },
  functionOutsideVpc: {
    'LambdaInsideVPC CT.LAMBDA.PR.3':
      'It accepts no connections, and calls nothing but AWS APIs, over TLS, with its own role. In the VPC it could reach AWS only through the webhook origin, whose move or failure must not stop it.',
  },
  functionOfCdk: {
    'CT.LAMBDA.PR.3':
      'It empties the default security group of the VPC in which it would have to be, by calling EC2 during deployments only.',
  },
  inlinePolicy: {
    IAMNoInlinePolicy:
      'Least privilege for one role, deleted with the role. A managed policy could be attached to other roles and outlive this one.',
  },
  networkInterfaces: {
    'AwsSolutions-IAM5[Resource::*]':
      "Lambda creates network interfaces with this role, and these EC2 actions support no narrower resource. A second statement denies them to the function's code.",
  },

  // Database
  clusterWithoutClients: {
    'AwsSolutions-RDS6 CT.RDS.PR.4':
      'Nobody can connect: no security group is admitted. A replica serves no requests. With the RDS Data API, which signs in with secrets, IAM authentication would be an unused way in.',
  },
  deletableCluster: {
    'AwsSolutions-RDS10 RDSInstanceDeletionProtectionEnabled CT.RDS.PR.3':
      'No service level agreement, and test funds only. Deleting the stack takes a final snapshot.',
  },
  replica: {
    'AwsSolutions-RDS10 RDSInstanceDeletionProtectionEnabled CT.RDS.PR.3':
      'RDS refuses to delete a member of a global database, and the data is in the primary. With deletion protection, CloudFormation could not roll back a failed creation. A promotion turns it on.',
  },
  clusterWithData: {
    'CloudFormation-Validate::F3021':
      'Correct without a user name: the restored data already contains the owner, which gets the password of its secret.',
  },
  clusterRestoredToTime: {
    'CloudFormation-Validate::W3689':
      "CloudFormation's resource handler sets the password after the restore, and checks that the encryption matches the source's.",
  },
  databaseInstance: {
    'CloudFormation-Validate::W3010':
      'The table names the zones, so that the writer does not move if Fn::GetAZs returns another order.',
    'CT.RDS.PR.5':
      'Every environment is upgraded by its template: docs/decisions/database-versions.md. After an automatic upgrade the template would ask for an older version, which CloudFormation rejects. Members of a global database are not upgraded automatically at all.',
    'RDSEnhancedMonitoringEnabled CT.RDS.PR.2':
      "The instance is serverless: CloudWatch has capacity, connections, storage and lag every minute. Enhanced monitoring would write to a log group that all databases of the account share, without this stack's retention and key.",
    RDSInBackupPlan:
      'The rule looks for a plan that names the instance, but AWS Backup backs up Aurora by its cluster: with a service level agreement a plan names that. Without one, continuous backups are enough.',
  },
  clusterWithMoreLogs: {
    'CT.RDS.PR.25':
      'It exports the log of PostgreSQL, and beside it that of refused IAM authentication, which the rule does not know.',
  },
  databaseSecret: {
    'AwsSolutions-SMG4 SecretsManagerRotationEnabled':
      'The password is random, read by one role, and never typed. Scheduled rotation needs a function that may change every password, and the API would fail to sign in between the change of the password and that of the secret. An operator changes it when there is cause: docs/runbook/planned-work.md#changing-a-database-password',
  },

  // Queues and logs
  deadLetters: {
    'CT.SQS.PR.1': 'It is a dead-letter queue.',
  },
  shortLog: {
    'CT.CLOUDWATCH.PR.2':
      'The row sets how long logs are kept: a year with a service level agreement, less for test funds and trials.',
  },

  partOfCompositeAlarm: {
    'CloudWatchAlarmAction CT.CLOUDWATCH.PR.1': 'The composite alarm of which it is a part notifies.',
  },

  // Network
  subnet: {
    'CloudFormation-Validate::W3010':
      'The table names the zones. If Fn::GetAZs returned another order, CloudFormation would replace each subnet, with overlapping ranges.',
  },
  internetRoute: {
    VPCNoUnrestrictedRouteToIGW:
      'Webhook receivers can be anywhere on the internet. The subnet contains at most the NAT gateway, which accepts no inbound connections, and assigns no public addresses.',
  },
} as const satisfies Record<string, Readonly<Record<string, string>>>;

/**
 * Acknowledges findings on one resource, without its children.
 *
 * @param construct the resource, or the construct whose default child it is
 */
export function acknowledge(construct: IConstruct, as: keyof typeof acknowledgements): void {
  for (const [rules, reason] of Object.entries(acknowledgements[as])) {
    acknowledgeRules(construct, rules.split(' ').map(nameOf), reason);
  }
}

function nameOf(rule: string): string {
  if (rule.startsWith('CT.')) return `${controlTower}::${rule}`;
  return /^\w+$/.test(rule) ? `NIST.800.53.R5-${rule}` : rule;
}

function acknowledgeRules(construct: IConstruct, rules: readonly string[], reason: string): void {
  const resource = CfnResource.isCfnResource(construct) ? construct : construct.node.defaultChild;
  if (!(resource instanceof CfnResource)) {
    throw new Error(`${construct.node.path} has no CloudFormation resource to acknowledge rules on.`);
  }
  Validations.of(resource).acknowledge(...rules.map((id) => ({ id, reason })));
}

/** An aspect, for resources that the CDK makes and those that are everywhere. */
export function acknowledgeOnEach(node: IConstruct): void {
  if (node instanceof CfnPermission && node.principal === 'apigateway.amazonaws.com')
    acknowledge(node, 'permission');
  if (node instanceof CfnLogGroup && (node.retentionInDays ?? 0) < 365) acknowledge(node, 'shortLog');
}

/** What invokes a function. It determines the concurrency limit and the handling of failed events. */
export type Invoker = 'gateway' | 'queue' | 'schedule' | 'deployment' | 'operator';

export function acknowledgeFunction(lambda: LambdaFunction, invokedBy: Invoker): void {
  acknowledge(lambda, invokedBy);
  if (!lambda.isBoundToVpc) acknowledge(lambda, 'functionOutsideVpc');
}

/** The policy that the CDK creates for a role's statements. */
export const defaultPolicy = (role: IConstruct): IConstruct => role.node.findChild('DefaultPolicy');

interface Permission {
  readonly resources: readonly string[];
  /** Reason for a `*` in a resource. A `*` without a reason remains a finding. */
  readonly wildcard?: string;
}

/** Acknowledges that a policy is inline, and its wildcards with a reason. */
export function acknowledgePermissions(role: IConstruct, permissions: readonly Permission[]): void {
  acknowledge(role, 'inlinePolicy');
  for (const { resources, wildcard: reason } of permissions) {
    if (reason === undefined) continue;
    const rules = resources
      .map((resource) => resource.replaceAll(Aws.PARTITION, '<AWS::Partition>'))
      .map((resource) => resource.replaceAll(Aws.ACCOUNT_ID, '<AWS::AccountId>'));
    acknowledgeRules(
      role,
      rules.map((resource) => `AwsSolutions-IAM5[Resource::${resource}]`),
      reason,
    );
  }
}
