import { Account } from '@aws-sdk/client-account';
import { ACM } from '@aws-sdk/client-acm';
import { Backup } from '@aws-sdk/client-backup';
import { EC2 } from '@aws-sdk/client-ec2';
import { IAM } from '@aws-sdk/client-iam';
import { Lambda } from '@aws-sdk/client-lambda';
import { checkThrottle } from '../../../lib/environments';
import { AwsCallFailed, callAws, clientSettings, unlessRefused } from '../../shell/aws';
import { type Check, existing, failed, standsBy, warning } from './check';

export const regionChecks: readonly Check[] = [
  {
    // Without the role, the first call to RDS can fail. https://github.com/aws-samples/eks-workshop-v2/issues/1609,
    // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/UsingWithRDS.IAM.ServiceLinkedRoles.html
    id: 'rds-service-linked-role',
    async run({ stack: { region } }) {
      const iam = new IAM(clientSettings(region));
      const RoleName = 'AWSServiceRoleForRDS';
      const answer = await unlessRefused(/^NoSuchEntity/, () => callAws(iam, 'getRole', { RoleName }));
      if (answer) return `${answer.Role?.Arn}`;
      return failed(
        `the account has no ${RoleName}`,
        'Create it: aws iam create-service-linked-role --aws-service-name rds.amazonaws.com',
      );
    },
  },
  {
    // https://docs.aws.amazon.com/accounts/latest/reference/API_GetRegionOptStatus.html
    id: 'region',
    async run({ stack: { region } }) {
      const account = new Account(clientSettings(region));
      const { RegionOptStatus: status = '' } = await callAws(account, 'getRegionOptStatus', {
        RegionName: region,
      });
      const found = `${region} is ${status}`;
      if (/^ENABLED/.test(status)) return found;
      const command = `aws account enable-region --region-name ${region}`;
      return failed(
        found,
        status === 'ENABLING'
          ? 'Wait, minutes to hours.'
          : `Enable it, which takes minutes to hours: ${command}`,
      );
    },
  },
  {
    // A new account may have 10 instead of 1,000: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html,
    // https://github.com/aws-samples/aws-secure-environment-accelerator/issues/1002
    id: 'lambda-concurrency',
    async run({ environment, stack: { region } }) {
      const { AccountLimit } = await callAws(new Lambda(clientSettings(region)), 'getAccountSettings', {});
      const { ConcurrentExecutions: all = 0, UnreservedConcurrentExecutions: free = 0 } = AccountLimit ?? {};
      const burst = environment.throttle.burst + checkThrottle(environment).burst;
      const found = `${free} of ${all} executions unreserved, the bursts of API and check are ${burst}`;
      if (free >= burst) return found;
      const wanted = Math.max(usualConcurrency, all - free + burst);
      return failed(
        found,
        `Request a higher quota, which can take days: aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value ${wanted} --region ${region}`,
      );
    },
  },
  {
    // All zones of the region: if two of three are unavailable, so may be the region (docs/decisions/loss-of-a-region.md).
    id: 'zones',
    async run({ zones, stack: { region } }) {
      const ec2 = new EC2(clientSettings(region));
      const Filters = [{ Name: 'zone-type', Values: ['availability-zone'] }];
      const { AvailabilityZones = [] } = await callAws(ec2, 'describeAvailabilityZones', { Filters });
      const states = new Map(zones.map((zone) => [zone, 'missing']));
      for (const { ZoneName = '', State = '' } of AvailabilityZones) states.set(ZoneName, State);
      const found = [...states].map(([zone, state]) => `${zone} is ${state}`).join(', ');
      if ([...states.values()].every((state) => state === 'available')) return found;
      const remedy =
        'List zones that the account has in lib/environments.ts, and wait for the others, unless this deployment is the fix: "A zone is gone" in docs/runbook/emergencies.md.';
      return warning(found, remedy);
    },
  },
  {
    // A read that a role of the account may make in any region: if the guardrails are attached, a policy denies it outside.
    // A dry run always ends with an error: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/CommonParameters.html
    id: 'guardrails',
    async run({ environment: { residencyRegions } }) {
      const outside = enabledEverywhere.find((each) => !residencyRegions.includes(each)) ?? '';
      const remedy = 'Attach the policies to the account, or see why they do not apply: docs/guardrails.md.';
      try {
        await callAws(new EC2(clientSettings(outside)), 'describeAvailabilityZones', { DryRun: true });
      } catch (error) {
        if (!(error instanceof AwsCallFailed)) throw error;
        if (error.message.includes('service control policy')) return `a call in ${outside} is denied`;
        if (!/^(DryRunOperation|UnauthorizedOperation)$/.test(error.errorName)) throw error;
      }
      return warning(`no service control policy denies a call in ${outside}`, remedy);
    },
  },
  {
    // "To backup Aurora databases, you must enable the opt-in setting for Aurora", also where a plan names the cluster:
    // https://docs.aws.amazon.com/aws-backup/latest/devguide/assigning-resources-json.html
    // https://docs.aws.amazon.com/aws-backup/latest/devguide/API_UpdateRegionSettings.html omits this.
    id: 'backup-opt-in',
    async run(context) {
      const { environment, stack } = context;
      if (!environment.serviceLevelAgreement) return 'no backups without a service level agreement';
      const { region } = stack;
      const settings = await callAws(new Backup(clientSettings(region)), 'describeRegionSettings', {});
      const { Aurora: isIn } = settings.ResourceTypeOptInPreference ?? {};
      if (isIn) return 'AWS Backup is on for Aurora';
      if (isIn === undefined)
        return warning(
          `AWS Backup does not list Aurora in ${region}`,
          `The first backup may fail: see the alarm backup-copy. aws backup describe-region-settings --region ${region}`,
        );
      // A deployment of what has a plan may be a repair.
      const report = (await existing(context, 'AWS::Backup::BackupPlan')).length > 0 ? warning : failed;
      return report(
        'AWS Backup is off for Aurora',
        `Turn it on: aws backup update-region-settings --resource-type-opt-in-preference Aurora=true --region ${region}`,
      );
    },
  },
  {
    // API Gateway refuses a domain name whose certificate is not issued, or is for other names.
    // https://docs.aws.amazon.com/apigateway/latest/developerguide/how-to-custom-domains-prerequisites.html
    id: 'certificate',
    async run(context) {
      const { environment, stack } = context;
      const { domainNames, standby } = environment;
      if (!domainNames) return 'the row has no domain names';
      const CertificateArn = standsBy(context) ? standby?.certificateArn : domainNames.certificateArn;
      const acm = new ACM(clientSettings(stack.region));
      const answer = await unlessRefused(/^ResourceNotFoundException$/, () =>
        callAws(acm, 'describeCertificate', { CertificateArn }),
      );
      const { Status = 'missing', DomainName = '', SubjectAlternativeNames = [] } = answer?.Certificate ?? {};
      const list = `aws acm list-certificates --region ${stack.region}`;
      if (Status !== 'ISSUED')
        return failed(
          `${CertificateArn} is ${Status}`,
          `Add the CNAME records of its validation, or record another: ${list}`,
        );
      const covered = [DomainName, ...SubjectAlternativeNames];
      const isCovered = (name: string) =>
        covered.includes(name) || covered.includes(name.replace(/^[^.]+/, '*'));
      const missing = [domainNames.api, domainNames.dashboard].filter((name) => !isCovered(name));
      if (missing.length === 0) return `${CertificateArn}: issued, for both names`;
      return failed(
        `${CertificateArn} is not for ${missing.join(', ')}`,
        `Request one for both names: ${list}`,
      );
    },
  },
];

/** AWS's default, which a new account may not have: docs/deploying.md. */
const usualConcurrency = 1_000;

/** Regions that no account has to enable; no row has all of them. */
const enabledEverywhere = ['us-east-1', 'us-west-2', 'ap-southeast-2'];
