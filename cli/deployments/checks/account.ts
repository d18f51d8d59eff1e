import { IAM } from '@aws-sdk/client-iam';
import { ask, clientSettings, unlessRefused } from '../../shell/aws';
import { type Check, failed } from './check';

export const accountChecks: readonly Check[] = [
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
