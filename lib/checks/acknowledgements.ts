import { Aws, CfnResource, Validations } from 'aws-cdk-lib';
import type { Method, RestApi, Stage } from 'aws-cdk-lib/aws-apigateway';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { IConstruct } from 'constructs';
import type { Environment } from '../environment';

/**
 * Acknowledges rules on one resource: synthesis goes on despite them, and fails on all others. Nothing below or beside
 * the resource is covered, so each resource has its own reason.
 *
 * @param construct the resource, or the construct whose default child it is
 * @param ruleIds as the report names them, such as `AwsSolutions-IAM5[Resource::*]`
 * @param reason why it is right here, for reviewers
 * @throws Error when the construct has no resource
 */
export function acknowledge(construct: IConstruct, ruleIds: readonly string[], reason: string): void {
  const resource = CfnResource.isCfnResource(construct) ? construct : construct.node.defaultChild;
  if (!(resource instanceof CfnResource)) {
    throw new Error(`${construct.node.path} has no CloudFormation resource to acknowledge rules on.`);
  }
  Validations.of(resource).acknowledge(...ruleIds.map((id) => ({ id, reason })));
}

/** The ids of a rule that the packs of NIST and of PCI both have. */
export function nistAndPci(rule: string): readonly string[] {
  return [`NIST.800.53.R5-${rule}`, `PCI.DSS.321-${rule}`];
}

/** Who makes a function run. It decides what bounds its concurrency, and what becomes of an event that fails. */
export type Invoker = 'gateway' | 'queue' | 'schedule' | 'deployment' | 'operator';

const boundOf: Readonly<Record<Invoker, string>> = {
  gateway:
    'The throttle of the API stage bounds it. A reservation would be taken from all other functions of the account, and would answer bursts that the throttle admits with errors.',
  queue:
    'MaximumConcurrency of its event source bounds it. A limit on the function would make SQS count every throttled attempt as a receive of the message.',
  schedule: 'One rule invokes it once a day, and two runs at once delete the same rows: nothing to bound.',
  deployment: 'CloudFormation alone invokes it, a few times in a deployment.',
  operator: 'Operators whom IAM admits invoke it, one command at a time.',
};

const deadLettersOf: Readonly<Record<Invoker, string>> = {
  gateway:
    'API Gateway invokes it synchronously: the caller gets the error, and Lambda has no event to keep.',
  queue:
    'Its event source is a queue: what fails stays there, and ends in the dead-letter queue of that queue.',
  schedule:
    'EventBridge tries a failed run twice more. It deletes what has expired: the next run deletes what this one did not, so a lost event loses nothing.',
  deployment:
    'It is invoked synchronously during a deployment, which fails with its error: Lambda has no event to keep.',
  operator: 'The command line invokes it synchronously and shows the error: Lambda has no event to keep.',
};

/** Acknowledges what the rule packs find on a function. */
export function acknowledgeFunction(lambda: LambdaFunction, invokedBy: Invoker): void {
  acknowledge(lambda, ['NIST.800.53.R5-LambdaConcurrency'], boundOf[invokedBy]);
  acknowledge(lambda, ['NIST.800.53.R5-LambdaDLQ'], deadLettersOf[invokedBy]);
  if (!lambda.isBoundToVpc) {
    acknowledge(
      lambda,
      nistAndPci('LambdaInsideVPC'),
      'It calls AWS at most, over TLS and with a role of its own, and listens to nothing. In the VPC it could call AWS only through the webhook origin, whose move or failure must not stop it.',
    );
  }
}

/** Acknowledges the inline policy of a role. */
export function acknowledgeInlinePolicy(role: IConstruct): void {
  acknowledge(defaultPolicy(role), nistAndPci('IAMNoInlinePolicy'), whyInlinePolicy);
}

export const whyInlinePolicy =
  'Least privilege for this one role, which goes when the role goes. A managed policy could be attached to others and outlive it.';

/** The policy that the CDK makes for a role's statements. */
export function defaultPolicy(role: IConstruct): IConstruct {
  return role.node.findChild('DefaultPolicy');
}

/** Acknowledges that the gateway does not validate requests. */
export function acknowledgeNoGatewayValidation(restApi: RestApi): void {
  acknowledge(
    restApi,
    ['AwsSolutions-APIG2'],
    "The function checks path, query, headers and body of every request, in the documented order and with the documented codes. The gateway's validator knows no patterns of path parameters, and would answer first, otherwise.",
  );
}

/** Acknowledges the role by which the region's API Gateway writes access logs. */
export function acknowledgeLogRole(restApi: RestApi): void {
  acknowledge(
    restApi.node.findChild('CloudWatchRole'),
    [
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
    ],
    "It is the policy that API Gateway asks for (https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html): the role is the account's, for the access logs of every API in the region.",
  );
}

/** Acknowledges what the rule packs find on a stage. */
export function acknowledgeStage(stage: Stage): void {
  acknowledge(
    stage,
    ['AwsSolutions-APIG6', ...nistAndPci('APIGWExecutionLoggingEnabled')],
    'Execution logs show what callers send and what the authorizer was given. The access log has who, what, when, status, latencies and the reason of a refusal for every request.',
  );
  acknowledge(
    stage,
    nistAndPci('APIGWCacheEnabledAndEncrypted'),
    'Nothing is cached: a deletion must not be, and what else is answered is one small document, made by the gateway itself or kept in memory.',
  );
  acknowledge(
    stage,
    nistAndPci('APIGWSSLEnabled'),
    'A client certificate would prove the gateway to an HTTP backend. There is none: functions are invoked through IAM.',
  );
}

/** Acknowledges that a method's tokens are the service's own, verified by its own authorizer. */
export function acknowledgeCustomTokens(method: Method): void {
  acknowledge(
    method,
    ['AwsSolutions-COG4'],
    'Access tokens are the JWTs that the service specifies, signed by the keys of the region. The authorizer of the method verifies them.',
  );
}

/** Acknowledges that a method needs no token. */
export function acknowledgePublicMethod(method: Method): void {
  acknowledge(
    method,
    ['AwsSolutions-APIG4', 'AwsSolutions-COG4'],
    'Public on purpose: it answers with one address, which receivers of webhooks need before they have any token. Firewall and throttle stand before it.',
  );
}

/** Acknowledges what the rule packs find on the dashboard's address, which is public and takes no input. */
export function acknowledgePublicPage(restApi: RestApi, page: Method): void {
  acknowledge(
    restApi,
    ['AwsSolutions-APIG2'],
    'There is nothing to validate: the answer is the same page, whatever is sent.',
  );
  acknowledge(
    page,
    ['AwsSolutions-APIG4', 'AwsSolutions-COG4'],
    'Public on purpose: the page holds public facts. Firewall and throttle stand before it.',
  );
}

/** Acknowledges what the rule packs find on a cluster that serves. */
export function acknowledgeServingCluster(cluster: IConstruct, environment: Environment): void {
  if (environment.databaseAccess === 'data-api') {
    acknowledge(
      cluster,
      ['AwsSolutions-RDS6'],
      'Nobody connects to it: it is reached over the RDS Data API, which signs in with secrets, and no security group is admitted. With IAM authentication there would be one more way to sign in, for nobody.',
    );
  }
  if (!environment.database.deletionProtection) {
    acknowledge(
      cluster,
      ['AwsSolutions-RDS10', 'NIST.800.53.R5-RDSInstanceDeletionProtectionEnabled'],
      'No service level agreement and test funds only. When the stack is deleted, a last snapshot is taken.',
    );
  }
}

/** Acknowledges what the rule packs find on an instance of a cluster. */
export function acknowledgeInstance(instance: IConstruct, { database }: Environment): void {
  acknowledgeZone(instance);
  acknowledge(
    instance,
    ['PCI.DSS.321-RDSAutomaticMinorVersionUpgradeEnabled'],
    'Every environment is upgraded by its template: docs/decisions/database-versions.md. An automatic upgrade leaves the template behind, which CloudFormation then refuses, and has no effect on members of a global database.',
  );
  acknowledge(
    instance,
    ['NIST.800.53.R5-RDSEnhancedMonitoringEnabled'],
    'The instance is serverless: capacity, connections, storage and lag are in CloudWatch every minute. Enhanced monitoring would write into a log group that all databases of the account share, beyond the retention and the key that hold for the logs of this stack.',
  );
  acknowledge(
    instance,
    ['NIST.800.53.R5-RDSInBackupPlan'],
    `The cluster is backed up continuously and can be restored to any second of the last ${database.backupRetentionDays} days. A plan of AWS Backup would keep the same data in the same region a second time; another region is not permitted for it.`,
  );
}

/** Acknowledges that a secret of the database is rotated by an operator, not by a schedule. */
export function acknowledgeNoRotation(secret: IConstruct, exposure: string): void {
  acknowledge(
    secret,
    ['AwsSolutions-SMG4', 'NIST.800.53.R5-SecretsManagerRotationEnabled'],
    `${exposure} Nobody types it and no code of ours keeps it. A schedule needs a function that may change every password, and the API would be refused between the change of the password and that of the secret; so an operator changes it when there is cause: docs/runbook.md#changing-a-database-password`,
  );
}

/** Acknowledges that a subnet or an instance names its zone. */
export function acknowledgeZone(resource: IConstruct): void {
  acknowledge(
    resource,
    ['CloudFormation-Validate::W3010'],
    "The table names the zones. Fn::GetAZs may give them in another order one day, and each subnet would be replaced by one of another's range.",
  );
}

interface Permission {
  readonly resources: readonly string[];
  /** Why a resource has a `*`. A `*` without a reason stays a finding. */
  readonly wildcard?: string;
}

/** Acknowledges what the rule packs find on a role of a workflow. */
export function acknowledgeGithubRole(role: IConstruct, permissions: readonly Permission[]): void {
  acknowledge(role, nistAndPci('IAMNoInlinePolicy'), whyInlinePolicy);
  for (const { resources, wildcard } of permissions) {
    if (wildcard !== undefined) acknowledge(role, resources.map(wildcardFinding), wildcard);
  }
}

const wildcardFinding = (resource: string): string => {
  const named = resource
    .replaceAll(Aws.PARTITION, '<AWS::Partition>')
    .replaceAll(Aws.ACCOUNT_ID, '<AWS::AccountId>');
  return `AwsSolutions-IAM5[Resource::${named}]`;
};
