import { Aws, CfnResource, Validations } from 'aws-cdk-lib';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { IConstruct } from 'constructs';

/**
 * Accepted findings of the rule packs, by resource, with reasons for reviewers. Rules are named as in the reports; one without a
 * pack is in both NIST 800-53 and PCI DSS.
 */
const acknowledgements = {
  // API Gateway
  api: {
    'AwsSolutions-APIG2':
      "The function checks path, query, headers and body of every request, in the documented order and with the documented codes. The gateway's validator knows no patterns of path parameters, and would respond first, otherwise.",
  },
  page: {
    'AwsSolutions-APIG2': 'There is nothing to validate: the response is the same page, whatever is sent.',
  },
  logRole: {
    'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
      "It is the policy that API Gateway asks for (https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html): the role is the account's, for the access logs of every API in the region.",
  },
  stage: {
    'AwsSolutions-APIG6 APIGWExecutionLoggingEnabled':
      'Execution logs show what callers send and what the authorizer was given. The access log has who, what, when, status, latencies and the reason of a refusal for every request.',
    APIGWCacheEnabledAndEncrypted:
      'Deletions must not be cached, and the other responses are small documents, made by the gateway itself or held in memory.',
    APIGWSSLEnabled:
      'A client certificate would prove the gateway to an HTTP backend. There is none: functions are invoked through IAM.',
  },
  methodWithToken: {
    'AwsSolutions-COG4':
      'Access tokens are the JWTs that the service specifies, signed by the keys of the region. The authorizer of the method verifies them.',
  },
  publicMethod: {
    'AwsSolutions-APIG4 AwsSolutions-COG4':
      'Public on purpose: it returns public facts, among them the address that receivers of webhooks need before they have any token. It is behind firewall and throttle.',
  },

  // Functions, by what invokes them
  gateway: {
    'NIST.800.53.R5-LambdaConcurrency':
      'The throttle of the API stage bounds it. A reservation would be taken from all other functions of the account, and would fail bursts that the throttle admits.',
    'NIST.800.53.R5-LambdaDLQ':
      'API Gateway invokes it synchronously: the caller gets the error, and Lambda retries no event.',
  },
  queue: {
    'NIST.800.53.R5-LambdaConcurrency':
      'MaximumConcurrency of its event source bounds it. A limit on the function would make SQS count every throttled attempt as a receive of the message.',
    'NIST.800.53.R5-LambdaDLQ':
      'Its event source is a queue: what fails stays there, and ends in its dead-letter queue.',
  },
  schedule: {
    'NIST.800.53.R5-LambdaConcurrency':
      'One rule invokes it once a day, and two runs at once delete the same rows: nothing to bound.',
    'NIST.800.53.R5-LambdaDLQ':
      'EventBridge tries a failed run twice more. The next run deletes what this one did not, so a lost event loses nothing.',
  },
  deployment: {
    'NIST.800.53.R5-LambdaConcurrency NIST.800.53.R5-LambdaDLQ':
      'CloudFormation alone invokes it, synchronously, a few times in a deployment, which fails with its error.',
  },
  operator: {
    'NIST.800.53.R5-LambdaConcurrency NIST.800.53.R5-LambdaDLQ':
      'Operators whom IAM admits invoke it synchronously, one command at a time, which shows the error.',
  },
  functionOutsideVpc: {
    LambdaInsideVPC:
      'It calls AWS at most, over TLS and with a role of its own, and listens to nothing. In the VPC it could call AWS only through the webhook origin, whose move or failure must not stop it.',
  },
  inlinePolicy: {
    IAMNoInlinePolicy:
      'Least privilege for this one role, deleted with the role. A managed policy could be attached to others and outlive it.',
  },
  networkInterfaces: {
    'AwsSolutions-IAM5[Resource::*]':
      'Lambda makes network interfaces with this role, and EC2 allows those actions on all resources only. A second statement denies them to the code of the function.',
  },

  // Database
  clusterWithoutClients: {
    'AwsSolutions-RDS6':
      'Nobody connects to it, and no security group is admitted. A replica has no instance; a cluster with the RDS Data API signs in with secrets, and IAM authentication would be one more way to sign in, for nobody.',
  },
  deletableCluster: {
    'AwsSolutions-RDS10 NIST.800.53.R5-RDSInstanceDeletionProtectionEnabled':
      'No service level agreement and test funds only. When the stack is deleted, a last snapshot is taken.',
  },
  clusterWithData: {
    'CloudFormation-Validate::F3021':
      'A password without a user name is right: the owner came with the data, and gets the password of its secret.',
  },
  clusterRestoredToTime: {
    'CloudFormation-Validate::W3689':
      'The handler sets the password after the restore, and compares the encryption with the source.',
  },
  databaseInstance: {
    'CloudFormation-Validate::W3010':
      'The table names the zones, so that the writer does not move when Fn::GetAZs gives them in another order.',
    'PCI.DSS.321-RDSAutomaticMinorVersionUpgradeEnabled':
      'Every environment is upgraded by its template: docs/decisions/database-versions.md. An automatic upgrade leaves the template behind, which CloudFormation then refuses, and has no effect on members of a global database.',
    'NIST.800.53.R5-RDSEnhancedMonitoringEnabled':
      'The instance is serverless: capacity, connections, storage and lag are in CloudWatch every minute. Enhanced monitoring would write into a log group that all databases of the account share, without the retention and the key of this stack.',
    'NIST.800.53.R5-RDSInBackupPlan':
      'The cluster is backed up continuously and can be restored to any second of its retention period. AWS Backup would store the same data in the same region a second time; another region is not permitted for it.',
  },
  databaseSecret: {
    'AwsSolutions-SMG4 NIST.800.53.R5-SecretsManagerRotationEnabled':
      'Random, read by one role, and typed by nobody. A schedule needs a function that may change every password, and the API would be refused between the change of the password and that of the secret; so an operator changes it when there is cause: docs/runbook.md#changing-a-database-password',
  },

  // Network
  subnet: {
    'CloudFormation-Validate::W3010':
      "The table names the zones. Fn::GetAZs may give them in another order one day, and each subnet would be replaced by one of another's range.",
  },
  internetRoute: {
    VPCNoUnrestrictedRouteToIGW:
      'Receivers of webhooks are anywhere on the internet. The subnet holds the NAT gateway at most, which admits no connection from outside, and gives nothing else a public address.',
  },
} as const satisfies Record<string, Readonly<Record<string, string>>>;

/**
 * Acknowledges findings on one resource, without its children.
 *
 * @param construct the resource, or the construct whose default child it is
 */
export function acknowledge(construct: IConstruct, as: keyof typeof acknowledgements): void {
  for (const [rules, reason] of Object.entries(acknowledgements[as])) {
    acknowledgeRules(construct, rules.split(' ').flatMap(packsOf), reason);
  }
}

const packsOf = (rule: string) =>
  /^\w+$/.test(rule) ? [`NIST.800.53.R5-${rule}`, `PCI.DSS.321-${rule}`] : [rule];

function acknowledgeRules(construct: IConstruct, rules: readonly string[], reason: string): void {
  const resource = CfnResource.isCfnResource(construct) ? construct : construct.node.defaultChild;
  if (!(resource instanceof CfnResource)) {
    throw new Error(`${construct.node.path} has no CloudFormation resource to acknowledge rules on.`);
  }
  Validations.of(resource).acknowledge(...rules.map((id) => ({ id, reason })));
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
