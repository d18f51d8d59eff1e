import { Aws, CfnResource, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** Accepted findings of AWS Solutions' rules, by resource, named as in the reports, with reasons for reviewers. */
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
    'AwsSolutions-APIG6':
      'Execution logs contain request bodies and access tokens. The access log has the source address, route, time, status, latencies and error type of every request.',
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

  // Functions
  networkInterfaces: {
    'AwsSolutions-IAM5[Resource::*]':
      "Lambda creates network interfaces with this role, and these EC2 actions support no narrower resource. A second statement denies them to the function's code.",
  },

  // Database
  clusterWithoutClients: {
    'AwsSolutions-RDS6':
      'Nobody can connect: no security group is admitted. A replica serves no requests. With the RDS Data API, which signs in with secrets, IAM authentication would be an unused way in.',
  },
  deletableCluster: {
    'AwsSolutions-RDS10':
      'No service level agreement, and test funds only. Deleting the stack takes a final snapshot.',
  },
  replica: {
    'AwsSolutions-RDS10':
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
  },
  databaseSecret: {
    'AwsSolutions-SMG4':
      'The password is random, read by one role, and never typed. Scheduled rotation needs a function that may change every password, and the API would fail to sign in between the change of the password and that of the secret. An operator changes it when there is cause: docs/runbook/planned-work.md#changing-a-database-password',
  },

  // Network
  subnet: {
    'CloudFormation-Validate::W3010':
      'The table names the zones. If Fn::GetAZs returned another order, CloudFormation would replace each subnet, with overlapping ranges.',
  },
} as const satisfies Record<string, Readonly<Record<string, string>>>;

/** Acknowledges findings on one resource, or on the default child of a construct, without other children. */
export function acknowledge(construct: IConstruct, as: keyof typeof acknowledgements): void {
  for (const [rules, reason] of Object.entries(acknowledgements[as])) {
    acknowledgeRules(construct, rules.split(' '), reason);
  }
}

function acknowledgeRules(construct: IConstruct, rules: readonly string[], reason: string): void {
  const resource = CfnResource.isCfnResource(construct) ? construct : construct.node.defaultChild;
  if (!(resource instanceof CfnResource)) {
    throw new Error(`${construct.node.path} has no CloudFormation resource to acknowledge rules on.`);
  }
  Validations.of(resource).acknowledge(...rules.map((id) => ({ id, reason })));
}

/** The policy that the CDK creates for a role's statements. */
export const defaultPolicy = (role: IConstruct): IConstruct => role.node.findChild('DefaultPolicy');

interface Permission {
  readonly resources: readonly string[];
  /** Reason for a `*` in a resource. A `*` without a reason remains a finding. */
  readonly wildcard?: string;
}

/** Acknowledges the wildcards that have a reason. */
export function acknowledgePermissions(role: IConstruct, permissions: readonly Permission[]): void {
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
