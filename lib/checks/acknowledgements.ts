import { Aws, CfnResource, Validations } from 'aws-cdk-lib';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { IConstruct } from 'constructs';

interface Acknowledgement {
  /** As the report names them, such as `AwsSolutions-IAM5[Resource::*]`. */
  readonly rules: readonly string[];
  readonly reason: string;
}

/** A rule of both the NIST and the PCI pack. */
const both = (rule: string) => [`NIST.800.53.R5-${rule}`, `PCI.DSS.321-${rule}`];
const concurrency = ['NIST.800.53.R5-LambdaConcurrency'];
const deadLetters = ['NIST.800.53.R5-LambdaDLQ'];
const publicMethod = ['AwsSolutions-APIG4', 'AwsSolutions-COG4'];

/** Accepted findings of the rule packs, with reasons for reviewers. */
const acknowledgements = {
  // API Gateway
  gatewayValidation: {
    rules: ['AwsSolutions-APIG2'],
    reason:
      "The function checks path, query, headers and body of every request, in the documented order and with the documented codes. The gateway's validator cannot check patterns of path parameters, and would respond first, with other codes.",
  },
  pageValidation: {
    rules: ['AwsSolutions-APIG2'],
    reason: 'There is nothing to validate: every request gets the same page.',
  },
  logRole: {
    rules: [
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
    ],
    reason:
      'API Gateway requires this policy (https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html): the role is account-wide, for the access logs of every API in the region.',
  },
  executionLogs: {
    rules: ['AwsSolutions-APIG6', ...both('APIGWExecutionLoggingEnabled')],
    reason:
      'Execution logs contain request bodies and access tokens. The access log has the source address, route, time, status, latencies and error type of every request.',
  },
  responseCache: {
    rules: both('APIGWCacheEnabledAndEncrypted'),
    reason:
      'Deletions must not be cached. The other responses are small documents from the gateway itself or from memory.',
  },
  clientCertificate: {
    rules: both('APIGWSSLEnabled'),
    reason:
      'A client certificate authenticates the gateway to an HTTP backend. There is none: API Gateway invokes functions through IAM.',
  },
  customTokens: {
    rules: ['AwsSolutions-COG4'],
    reason:
      "The service specifies its own access tokens: JWTs signed by the region's keys. The method's authorizer verifies them.",
  },
  publicOrigins: {
    rules: publicMethod,
    reason:
      'Public on purpose: it returns the webhook origin addresses, for receivers that have no token. The firewall and the throttle protect it.',
  },
  publicPage: {
    rules: publicMethod,
    reason: 'Public on purpose: the page contains public facts. The firewall and the throttle protect it.',
  },

  // Functions
  gatewayConcurrency: {
    rules: concurrency,
    reason:
      "The API stage's throttle bounds it. Reserved concurrency would be taken from the account's other functions, and would reject bursts that the throttle admits.",
  },
  queueConcurrency: {
    rules: concurrency,
    reason:
      'The MaximumConcurrency of its event source bounds it. With a limit on the function, SQS would count every throttled attempt as a receive of the message.',
  },
  scheduleConcurrency: {
    rules: concurrency,
    reason: 'One rule invokes it once a day, and concurrent runs are harmless: they delete the same rows.',
  },
  deploymentConcurrency: {
    rules: concurrency,
    reason: 'Only CloudFormation invokes it, a few times per deployment.',
  },
  operatorConcurrency: {
    rules: concurrency,
    reason: 'Only operators with the IAM permission invoke it, one command at a time.',
  },
  gatewayDeadLetters: {
    rules: deadLetters,
    reason:
      'API Gateway invokes it synchronously: the caller receives the error, and there is no event to keep.',
  },
  queueDeadLetters: {
    rules: deadLetters,
    reason: 'Its event source is a queue: failed messages stay there until they reach its dead-letter queue.',
  },
  scheduleDeadLetters: {
    rules: deadLetters,
    reason:
      'Lambda retries a failed run twice, and the next daily run deletes whatever remains, so a lost event does no harm.',
  },
  deploymentDeadLetters: {
    rules: deadLetters,
    reason: 'It is invoked synchronously during a deployment, which then fails with its error.',
  },
  operatorDeadLetters: {
    rules: deadLetters,
    reason: 'The command line invokes it synchronously and shows the error.',
  },
  outsideVpc: {
    rules: both('LambdaInsideVPC'),
    reason:
      'It accepts no connections, and calls nothing but AWS APIs, over TLS, with its own role. In the VPC it could reach AWS only through the webhook origin, whose move or failure must not stop it.',
  },
  inlinePolicy: {
    rules: both('IAMNoInlinePolicy'),
    reason:
      'Least privilege for one role, deleted with the role. A managed policy could be attached to other roles and outlive this one.',
  },
  networkInterfaces: {
    rules: ['AwsSolutions-IAM5[Resource::*]'],
    reason:
      "Lambda creates network interfaces with this role, and these EC2 actions support no narrower resource. A second statement denies them to the function's code.",
  },

  // Database
  dataApiOnly: {
    rules: ['AwsSolutions-RDS6'],
    reason:
      'No client connects directly: access is through the RDS Data API, which signs in with secrets, and no security group is admitted. IAM authentication would be an unused way in.',
  },
  unreachableReplica: {
    rules: ['AwsSolutions-RDS6'],
    reason:
      'Nobody can connect: it admits no security group. Promotion gives it the same access as a serving region.',
  },
  deletableCluster: {
    rules: ['AwsSolutions-RDS10', 'NIST.800.53.R5-RDSInstanceDeletionProtectionEnabled'],
    reason: 'No service level agreement, and test funds only. Deleting the stack takes a final snapshot.',
  },
  passwordWithoutUser: {
    rules: ['CloudFormation-Validate::F3021'],
    reason:
      'Correct without a user name: the restored data already contains the owner, which gets the password of its secret.',
  },
  restoredSettings: {
    rules: ['CloudFormation-Validate::W3689'],
    reason:
      "CloudFormation's resource handler sets the password after the restore, and checks that the encryption matches the source's.",
  },
  minorUpgrades: {
    rules: ['PCI.DSS.321-RDSAutomaticMinorVersionUpgradeEnabled'],
    reason:
      'Every environment is upgraded by its template: docs/decisions/database-versions.md. After an automatic upgrade the template would ask for an older version, which CloudFormation rejects. Members of a global database are not upgraded automatically at all.',
  },
  enhancedMonitoring: {
    rules: ['NIST.800.53.R5-RDSEnhancedMonitoringEnabled'],
    reason:
      "The instance is serverless: CloudWatch has capacity, connections, storage and lag every minute. Enhanced monitoring would write to a log group that all databases of the account share, without this stack's retention and key.",
  },
  backupPlan: {
    rules: ['NIST.800.53.R5-RDSInBackupPlan'],
    reason:
      'The cluster has continuous backups and can be restored to any second of its retention period. AWS Backup would store the same data in the same region a second time; a copy in another region would violate residency.',
  },
  secretRotation: {
    rules: ['AwsSolutions-SMG4', 'NIST.800.53.R5-SecretsManagerRotationEnabled'],
    reason:
      'The password is random, read by one role, and never typed. Scheduled rotation needs a function that may change every password, and the API would fail to sign in between the change of the password and that of the secret. An operator changes it when there is cause: docs/runbook.md#changing-a-database-password',
  },

  // Network
  namedZone: {
    rules: ['CloudFormation-Validate::W3010'],
    reason:
      'The table names the zones. If Fn::GetAZs returned another order, CloudFormation would replace each subnet, with overlapping ranges.',
  },
  internetRoute: {
    rules: both('VPCNoUnrestrictedRouteToIGW'),
    reason:
      'Webhook receivers can be anywhere on the internet. The subnet contains at most the NAT gateway, which accepts no inbound connections, and assigns no public addresses.',
  },
} as const satisfies Record<string, Acknowledgement>;

/**
 * Acknowledges findings on one resource, without its children.
 *
 * @param construct the resource, or the construct whose default child it is
 */
export function acknowledge(
  construct: IConstruct,
  ...names: readonly (keyof typeof acknowledgements)[]
): void {
  for (const name of names) acknowledgeRules(construct, acknowledgements[name]);
}

function acknowledgeRules(construct: IConstruct, { rules, reason }: Acknowledgement): void {
  const resource = CfnResource.isCfnResource(construct) ? construct : construct.node.defaultChild;
  if (!(resource instanceof CfnResource)) {
    throw new Error(`${construct.node.path} has no CloudFormation resource to acknowledge rules on.`);
  }
  Validations.of(resource).acknowledge(...rules.map((id) => ({ id, reason })));
}

/** What invokes a function. It determines the concurrency limit and the handling of failed events. */
export type Invoker = 'gateway' | 'queue' | 'schedule' | 'deployment' | 'operator';

export function acknowledgeFunction(lambda: LambdaFunction, invokedBy: Invoker): void {
  acknowledge(lambda, `${invokedBy}Concurrency`, `${invokedBy}DeadLetters`);
  if (!lambda.isBoundToVpc) acknowledge(lambda, 'outsideVpc');
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
    const rules = resources.map((resource) => {
      const named = resource
        .replaceAll(Aws.PARTITION, '<AWS::Partition>')
        .replaceAll(Aws.ACCOUNT_ID, '<AWS::AccountId>');
      return `AwsSolutions-IAM5[Resource::${named}]`;
    });
    acknowledgeRules(role, { rules, reason });
  }
}
