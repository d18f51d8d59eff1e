import { IAM } from '@aws-sdk/client-iam';
import { ask, clientSettings, unlessRefused } from '../../shell/aws';
import { type Check, failed } from './check';
import { FreeTier } from './free-tier';

export const accountChecks: readonly Check[] = [
  {
    // On the Free plan, the default of new accounts, RDS refuses our clusters and more than a day of backups:
    // https://github.com/ed-donner/alex/pull/42, https://github.com/yc-software/qm/issues/352
    id: 'account-plan',
    async ask() {
      // Presumably of an account from before there were plans, July 2025.
      const answer = await unlessRefused(/^ResourceNotFoundException$/, () =>
        ask(new FreeTier(), 'getAccountPlanState', {}),
      );
      const found = `the plan is ${answer?.accountPlanType ?? 'none'}`;
      if (answer?.accountPlanType !== 'FREE') return found;
      return failed(
        found,
        'Upgrade: aws freetier upgrade-account-plan --account-plan-type PAID --region us-east-1',
      );
    },
  },
  {
    // Without the role, the first call to RDS can fail. https://github.com/aws-samples/eks-workshop-v2/issues/1609,
    // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/UsingWithRDS.IAM.ServiceLinkedRoles.html
    id: 'rds-service-linked-role',
    async ask({ stack: { region } }) {
      const iam = new IAM(clientSettings(region));
      const RoleName = 'AWSServiceRoleForRDS';
      const answer = await unlessRefused(/^NoSuchEntity/, () => ask(iam, 'getRole', { RoleName }));
      if (answer) return `${answer.Role?.Arn}`;
      return failed(
        `the account has no ${RoleName}`,
        'Create it: aws iam create-service-linked-role --aws-service-name rds.amazonaws.com',
      );
    },
  },
];
