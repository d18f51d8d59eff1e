import { Aws, CfnResource, Validations } from 'aws-cdk-lib';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { IConstruct } from 'constructs';

interface Acknowledgement {
  /** As the report names them, such as `AwsSolutions-IAM5[Resource::*]`. */
  readonly rules: readonly string[];
  readonly reason: string;
}

/** A rule in both the NIST and the PCI pack. */
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
      "The function checks path, query, headers and body of every request, in the documented order and with the documented codes. The gateway's validator knows no patterns of path parameters, and would respond first, otherwise.",
  },
  pageValidation: {
    rules: ['AwsSolutions-APIG2'],
    reason: 'There is nothing to validate: the response is the same page, whatever is sent.',
  },
  logRole: {
    rules: [
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
    ],
    reason:
      "It is the policy that API Gateway asks for (https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html): the role is the account's, for the access logs of every API in the region.",
  },
  executionLogs: {
    rules: ['AwsSolutions-APIG6', ...both('APIGWExecutionLoggingEnabled')],
    reason:
      'Execution logs show what callers send and what the authorizer was given. The access log has who, what, when, status, latencies and the reason of a refusal for every request.',
  },
  responseCache: {
    rules: both('APIGWCacheEnabledAndEncrypted'),
    reason:
      'Deletions must not be cached, and the other responses are small documents, made by the gateway itself or held in memory.',
  },
  clientCertificate: {
    rules: both('APIGWSSLEnabled'),
    reason:
      'A client certificate would prove the gateway to an HTTP backend. There is none: functions are invoked through IAM.',
  },
  customTokens: {
    rules: ['AwsSolutions-COG4'],
    reason:
      'Access tokens are the JWTs that the service specifies, signed by the keys of the region. The authorizer of the method verifies them.',
  },
  publicOrigins: {
    rules: publicMethod,
    reason:
      'Public on purpose: it returns one address, which receivers of webhooks need before they have any token. It is behind firewall and throttle.',
  },
  publicPage: {
    rules: publicMethod,
    reason: 'Public on purpose: the page holds public facts. It is behind firewall and throttle.',
  },

  // Functions
  gatewayConcurrency: {
    rules: concurrency,
    reason:
      'The throttle of the API stage bounds it. A reservation would be taken from all other functions of the account, and would fail bursts that the throttle admits.',
  },
  queueConcurrency: {
    rules: concurrency,
    reason:
      'MaximumConcurrency of its event source bounds it. A limit on the function would make SQS count every throttled attempt as a receive of the message.',
  },
  scheduleConcurrency: {
    rules: concurrency,
    reason: 'One rule invokes it once a day, and two runs at once delete the same rows: nothing to bound.',
  },
  deploymentConcurrency: {
    rules: concurrency,
    reason: 'CloudFormation alone invokes it, a few times in a deployment.',
  },
  operatorConcurrency: {
    rules: concurrency,
    reason: 'Operators whom IAM admits invoke it, one command at a time.',
  },
  gatewayDeadLetters: {
    rules: deadLetters,
    reason: 'API Gateway invokes it synchronously: the caller gets the error, and Lambda retries no event.',
  },
  queueDeadLetters: {
    rules: deadLetters,
    reason: 'Its event source is a queue: what fails stays there, and ends in its dead-letter queue.',
  },
  scheduleDeadLetters: {
    rules: deadLetters,
    reason:
      'EventBridge tries a failed run twice more. The next run deletes what this one did not, so a lost event loses nothing.',
  },
  deploymentDeadLetters: {
    rules: deadLetters,
    reason: 'It is invoked synchronously during a deployment, which fails with its error.',
  },
  operatorDeadLetters: {
    rules: deadLetters,
    reason: 'The command line invokes it synchronously and shows the error.',
  },
  outsideVpc: {
    rules: both('LambdaInsideVPC'),
    reason:
      'It calls AWS at most, over TLS and with a role of its own, and listens to nothing. In the VPC it could call AWS only through the webhook origin, whose move or failure must not stop it.',
  },
  inlinePolicy: {
    rules: both('IAMNoInlinePolicy'),
    reason:
      'Least privilege for this one role, deleted with the role. A managed policy could be attached to others and outlive it.',
  },
  networkInterfaces: {
    rules: ['AwsSolutions-IAM5[Resource::*]'],
    reason:
      'Lambda makes network interfaces with this role, and EC2 allows those actions on all resources only. A second statement denies them to the code of the function.',
  },

  // Database
  dataApiOnly: {
    rules: ['AwsSolutions-RDS6'],
    reason:
      'Nobody connects to it: it is reached over the RDS Data API, which signs in with secrets, and no security group is admitted. IAM authentication would be one more way to sign in, for nobody.',
  },
  unreachableReplica: {
    rules: ['AwsSolutions-RDS6'],
    reason:
      'Nobody can connect: it has no instance and admits no security group. Promoted, it has the ways in of a region that serves.',
  },
  deletableCluster: {
    rules: ['AwsSolutions-RDS10', 'NIST.800.53.R5-RDSInstanceDeletionProtectionEnabled'],
    reason:
      'No service level agreement and test funds only. When the stack is deleted, a last snapshot is taken.',
  },
  passwordWithoutUser: {
    rules: ['CloudFormation-Validate::F3021'],
    reason:
      'A password without a user name is right: the owner came with the data, and gets the password of its secret.',
  },
  restoredSettings: {
    rules: ['CloudFormation-Validate::W3689'],
    reason: 'The handler sets the password after the restore, and compares the encryption with the source.',
  },
  minorUpgrades: {
    rules: ['PCI.DSS.321-RDSAutomaticMinorVersionUpgradeEnabled'],
    reason:
      'Every environment is upgraded by its template: docs/decisions/database-versions.md. An automatic upgrade leaves the template behind, which CloudFormation then refuses, and has no effect on members of a global database.',
  },
  enhancedMonitoring: {
    rules: ['NIST.800.53.R5-RDSEnhancedMonitoringEnabled'],
    reason:
      'The instance is serverless: capacity, connections, storage and lag are in CloudWatch every minute. Enhanced monitoring would write into a log group that all databases of the account share, without the retention and the key of this stack.',
  },
  backupPlan: {
    rules: ['NIST.800.53.R5-RDSInBackupPlan'],
    reason:
      'The cluster is backed up continuously and can be restored to any second of its retention period. AWS Backup would store the same data in the same region a second time; another region is not permitted for it.',
  },
  secretRotation: {
    rules: ['AwsSolutions-SMG4', 'NIST.800.53.R5-SecretsManagerRotationEnabled'],
    reason:
      'Random, read by one role, and typed by nobody. A schedule needs a function that may change every password, and the API would be refused between the change of the password and that of the secret; so an operator changes it when there is cause: docs/runbook.md#changing-a-database-password',
  },

  // Network
  namedZone: {
    rules: ['CloudFormation-Validate::W3010'],
    reason:
      "The table names the zones. Fn::GetAZs may give them in another order one day, and each subnet would be replaced by one of another's range.",
  },
  internetRoute: {
    rules: both('VPCNoUnrestrictedRouteToIGW'),
    reason:
      'Receivers of webhooks are anywhere on the internet. The subnet holds the NAT gateway at most, which admits no connection from outside, and gives nothing else a public address.',
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
