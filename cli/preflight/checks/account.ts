import { accountVariable } from '../../../lib/environment/accounts';
import type { FailureKind } from '../../aws-failure';
import { CallFailed } from '../call';
import { type Check, failed, ok } from '../check';

/** The deployer signs in to the account that the environment is meant for. */
const account: Check = {
  id: 'account',
  title: 'account',
  scope: 'account',
  precondition: true,
  async ask({ environment, account: expected, clientSettings, call }) {
    const variable = accountVariable(environment.name);
    const { GetCallerIdentityCommand, STSClient } = await import('@aws-sdk/client-sts');
    const client = new STSClient(clientSettings);
    try {
      // https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html: nobody can be denied it.
      const { Account, Arn } = await call('sts:GetCallerIdentity', (options) =>
        client.send(new GetCallerIdentityCommand({}), options),
      );
      if (expected === undefined)
        return ok(`${Account}, of the credentials (${Arn}): ${variable} gives no other`);
      if (Account === expected) return ok(`${Account}, of the credentials (${Arn}) and of the environment`);
      return failed(
        `the credentials (${Arn}) are of ${Account}, the environment's account is ${expected}`,
        `Sign in to ${expected} and name the profile in AWS_PROFILE, or correct ${variable}.`,
      );
    } catch (error) {
      if (!(error instanceof CallFailed) || !badCredentials.has(error.kind)) throw error;
      return failed(
        `no valid credentials: ${error.errorName}: ${error.detail}`,
        `Sign in (such as "aws sso login") and name the profile in AWS_PROFILE. ${tokenOfGlobalEndpoint}`,
      );
    }
  },
};

const badCredentials = new Set<FailureKind>(['no-credentials', 'expired', 'unknown-key', 'clock']);

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_temp_enable-regions.html */
const tokenOfGlobalEndpoint =
  'Session tokens of the global STS endpoint are not valid in a region that has to be enabled.';

/** https://docs.aws.amazon.com/accounts/latest/reference/API_GetRegionOptStatus.html */
const region: Check = {
  id: 'region',
  title: 'region is enabled',
  scope: 'stack',
  precondition: true,
  async ask({ stack: { region: RegionName }, clientSettings, call }) {
    const { AccountClient, GetRegionOptStatusCommand } = await import('@aws-sdk/client-account');
    const client = new AccountClient(clientSettings);
    const { RegionOptStatus: status } = await call('account:GetRegionOptStatus', (options) =>
      client.send(new GetRegionOptStatusCommand({ RegionName }), options),
    );
    if (status === 'ENABLED' || status === 'ENABLED_BY_DEFAULT') return ok(`${RegionName} is ${status}`);
    if (status === 'ENABLING')
      return failed(`${RegionName} is ENABLING`, 'Wait: it takes minutes, and in some accounts hours.');
    return failed(
      `${RegionName} is ${status}`,
      `Enable it: aws account enable-region --region-name ${RegionName}`,
    );
  },
};

/**
 * A first call to RDS without the role can fail for good. https://github.com/aws-samples/eks-workshop-v2/issues/1609,
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/UsingWithRDS.IAM.ServiceLinkedRoles.html
 */
const serviceLinkedRole: Check = {
  id: 'rds-service-linked-role',
  title: 'service-linked role of RDS',
  scope: 'account',
  async ask({ clientSettings, call }) {
    const { GetRoleCommand, IAMClient } = await import('@aws-sdk/client-iam');
    const client = new IAMClient(clientSettings);
    try {
      const { Role } = await call('iam:GetRole', (options) =>
        client.send(new GetRoleCommand({ RoleName: 'AWSServiceRoleForRDS' }), options),
      );
      return ok(`${Role?.Arn}`);
    } catch (error) {
      if (!(error instanceof CallFailed) || !error.errorName.startsWith('NoSuchEntity')) throw error;
      return failed(
        'the account has no AWSServiceRoleForRDS',
        'Make it: aws iam create-service-linked-role --aws-service-name rds.amazonaws.com',
      );
    }
  },
};

export const accountChecks: readonly Check[] = [account, region, serviceLinkedRole];
