import { Account } from '@aws-sdk/client-account';
import { EC2 } from '@aws-sdk/client-ec2';
import { Health } from '@aws-sdk/client-health';
import { IAM } from '@aws-sdk/client-iam';
import { Lambda } from '@aws-sdk/client-lambda';
import { SSM } from '@aws-sdk/client-ssm';
import type { AssembledStack } from '../assembly';
import { unlessRefused } from '../aws';
import { inProject } from '../pasted-command';
import { type Answer, type Check, type Context, failed, notAsked, ok, warning } from './check';
import { databaseChecks } from './database';

/** Asked once. Unless the first is right, nothing else is asked: what another account says may mislead. */
export const accountChecks: readonly Check[] = [
  {
    id: 'account',
    title: 'account',
    ask({ environment, caller: { account, arn }, stack }) {
      const expected = stack.account ?? account;
      if (account === expected) return ok(`${account} (${arn})`);
      return failed(
        `the credentials (${arn}) are of ${account}, the account of ${environment.name} is ${expected}`,
        `Sign in to ${expected} and name the profile in AWS_PROFILE, or correct the variable WALLET_…_ACCOUNT.`,
      );
    },
  },
  {
    // A first call to RDS without the role can fail for good. https://github.com/aws-samples/eks-workshop-v2/issues/1609,
    // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/UsingWithRDS.IAM.ServiceLinkedRoles.html
    id: 'rds-service-linked-role',
    title: 'service-linked role of RDS',
    async ask({ settings, call }) {
      const role = await unlessRefused(/^NoSuchEntity/, () =>
        call('iam:GetRole', (options) =>
          new IAM(settings).getRole({ RoleName: 'AWSServiceRoleForRDS' }, options),
        ),
      );
      if (role) return ok(`${role.Role?.Arn}`);
      return failed(
        'the account has no AWSServiceRoleForRDS',
        'Make it: aws iam create-service-linked-role --aws-service-name rds.amazonaws.com',
      );
    },
  },
];

/** Asked for each stack, in its region. Unless the first is right, nothing else is asked there. */
export const stackChecks: readonly Check[] = [
  {
    // https://docs.aws.amazon.com/accounts/latest/reference/API_GetRegionOptStatus.html
    id: 'region',
    title: 'region is enabled',
    async ask({ stack: { region }, settings, call }) {
      const { RegionOptStatus: status } = await call('account:GetRegionOptStatus', (options) =>
        new Account(settings).getRegionOptStatus({ RegionName: region }, options),
      );
      const found = `${region} is ${status}`;
      if (status === 'ENABLED' || status === 'ENABLED_BY_DEFAULT') return ok(found);
      if (status === 'ENABLING') return failed(found, 'Wait: it takes minutes, and in some accounts hours.');
      return failed(found, `Enable it: aws account enable-region --region-name ${region}`);
    },
  },
  {
    // A bootstrap stack of another name writes the parameter too. https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html
    id: 'bootstrap',
    title: "CDK's bootstrap stack",
    async ask({ stack: { region, bootstrap }, caller, settings, call }) {
      const { version: needed, parameter: Name } = bootstrap;
      const remedy = `Bootstrap the region: ${inProject(`npx cdk bootstrap aws://${caller.account}/${region}`)}`;
      const answer = await unlessRefused(/^ParameterNotFound$/, () =>
        call('ssm:GetParameter', (options) => new SSM(settings).getParameter({ Name }, options)),
      );
      if (!answer) return failed(`${region} has none: no parameter ${Name}`, remedy);
      const found = `version ${answer.Parameter?.Value}, at least ${needed} is needed`;
      return Number(answer.Parameter?.Value) >= needed ? ok(found) : failed(found, remedy);
    },
  },
  {
    id: 'stack-state',
    title: "stack's state",
    async ask({ stack, deployed }) {
      const status = (await deployed())?.status;
      if (status === undefined) return ok('there is none yet');
      return /^(CREATE|UPDATE|UPDATE_ROLLBACK|IMPORT|IMPORT_ROLLBACK)_COMPLETE$/.test(status)
        ? ok(status)
        : failed(status, remedyOfState(status, `--stack-name ${stack.name} --region ${stack.region}`));
    },
  },
  {
    // All of the region, not only the row's: with two of three gone the region itself is in doubt
    // (docs/decisions/loss-of-a-region.md). https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_AvailabilityZone.html
    id: 'zones',
    title: 'availability zones',
    async ask({ zones, settings, call, deployed }) {
      const Filters = [{ Name: 'zone-type', Values: ['availability-zone'] }];
      const { AvailabilityZones = [] } = await call('ec2:DescribeAvailabilityZones', (options) =>
        new EC2(settings).describeAvailabilityZones({ Filters }, options),
      );
      const states = new Map(AvailabilityZones.map(({ ZoneName = '', State }) => [ZoneName, State]));
      const names = [...states.keys()];
      const wrong = [...new Set([...zones, ...names])].filter((zone) => states.get(zone) !== 'available');
      if (wrong.length === 0) return ok(`all of the region's are available: ${names.join(', ')}`);
      const available = names.filter((zone) => states.get(zone) === 'available').join(', ') || 'none';
      const found = `${wrong.map((zone) => `${zone} is ${states.get(zone) ?? 'not there'}`).join(', ')}; available: ${available}`;
      const isMissing = zones.some((zone) => !states.has(zone));
      if (isMissing && (await deployed()) === undefined)
        return failed(found, 'Name zones that the account has in lib/environments.ts.');
      return warning(
        found,
        'Wait for the zones, unless this deployment is the repair: "A zone is gone" in docs/runbook.md.',
      );
    },
  },
  {
    // Each request of a burst runs in an execution of its own. A new account may have 10 instead of 1,000:
    // https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html,
    // https://github.com/aws-samples/aws-secure-environment-accelerator/issues/1002
    id: 'lambda-concurrency',
    title: 'quota: Lambda concurrency',
    async ask({ environment, stack, settings, call }) {
      if (!hasResource(stack, 'AWS::ApiGateway::Stage')) return ok('the stack serves no requests');
      const { burst } = environment.throttle;
      const { AccountLimit } = await call('lambda:GetAccountSettings', (options) =>
        new Lambda(settings).getAccountSettings({}, options),
      );
      const { ConcurrentExecutions: all = 0, UnreservedConcurrentExecutions: free = 0 } = AccountLimit ?? {};
      const found = `${free} of ${all} executions unreserved, the throttle's burst is ${burst}`;
      if (free >= burst) return ok(found);
      return failed(
        found,
        `Ask for more, which can take days: aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value ${all - free + burst} --region ${stack.region}`,
      );
    },
  },
  ...databaseChecks,
  {
    id: 'adopted-address',
    title: 'adopted Elastic IPs',
    async ask(context) {
      const { adoptedElasticIp, webhookOrigin } = context.environment;
      const adopted = { adoptedElasticIp, 'webhookOrigin.adoptedReserve': webhookOrigin?.adoptedReserve };
      const answers: Answer[] = [];
      if (hasResource(context.stack, 'AWS::EC2::NatGateway'))
        for (const [property, elasticIp] of Object.entries(adopted))
          if (elasticIp) answers.push(await askForAddress(elasticIp, property, context));
      const found = answers.map((answer) => answer.found).join(', ') || 'the stack adopts none';
      return answers.find(({ outcome }) => outcome === 'failed') ?? ok(found);
    },
  },
  {
    // Of any service: which of them the stack would suffer from is for people to tell.
    // https://docs.aws.amazon.com/health/latest/APIReference/API_DescribeEvents.html
    id: 'health',
    title: 'open issues in AWS Health',
    async ask({ stack: { region }, settings, call }) {
      // Health answers for all regions from this one: https://docs.aws.amazon.com/health/latest/ug/health-api.html
      const client = new Health({ ...settings, region: 'us-east-1' });
      const filter = {
        regions: [region],
        eventStatusCodes: ['open' as const],
        eventTypeCategories: ['issue' as const],
      };
      const answer = await unlessRefused(/^SubscriptionRequiredException$/, () =>
        call('health:DescribeEvents', (options) => client.describeEvents({ filter }, options)),
      );
      if (!answer) return notAsked('AWS Health answers accounts with a Business support plan or more alone');
      const { events = [] } = answer;
      if (events.length === 0) return ok(`none in ${region}`);
      const issues = events.map(
        ({ service, eventTypeCode, startTime }) =>
          `${service} ${eventTypeCode} since ${startTime?.toISOString() ?? 'an unknown time'}`,
      );
      return warning(
        issues.join(', '),
        'Read https://health.aws.amazon.com/health/home. Wait if it concerns the stack, unless this deployment is the repair.',
      );
    },
  },
];

const hasResource = ({ template }: AssembledStack, type: string): boolean =>
  Object.values(template.Resources).some(({ Type }) => Type === type);

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html */
function remedyOfState(status: string, of: string): string {
  const remove = `aws cloudformation delete-stack ${of}`;
  switch (status) {
    case 'REVIEW_IN_PROGRESS':
      return `A change set was never executed, and there is no stack behind it. Remove it: ${remove}`;
    case 'CREATE_FAILED':
    case 'ROLLBACK_COMPLETE':
    case 'ROLLBACK_FAILED':
      return `Remove what the failed creation left, see "Recovering from a failed first deployment" in docs/runbook.md. The stack itself: ${remove}`;
    case 'DELETE_FAILED':
      return `Remove what could not be deleted, see "Deleting a stack with an SLA" in docs/runbook.md, then: ${remove}`;
    case 'UPDATE_ROLLBACK_FAILED':
      return `Remove the cause, then: aws cloudformation continue-update-rollback ${of}`;
    case 'UPDATE_FAILED':
      return `Undo the failed update: aws cloudformation rollback-stack ${of}`;
    default:
      return 'Wait until CloudFormation is done with it, then run this command again.';
  }
}

/**
 * An Elastic IP cannot be on two gateways, and one of another account or region cannot be on the stack's.
 *
 * @param property of the row that has it
 */
async function askForAddress(
  { allocationId, address }: { readonly allocationId: string; readonly address: string },
  property: string,
  { stack: { region }, settings, call, deployed }: Context,
): Promise<Answer> {
  const ec2 = new EC2(settings);
  const { Addresses } = await call('ec2:DescribeAddresses', (options) =>
    ec2.describeAddresses({ Filters: [{ Name: 'allocation-id', Values: [allocationId] }] }, options),
  );
  const found = Addresses?.[0];
  if (found === undefined)
    return failed(
      `the account has no ${allocationId} in ${region}`,
      `Look for the address: aws ec2 describe-addresses --filters Name=public-ip,Values=${address} --region ${region}`,
    );
  if (found.PublicIp !== address)
    return failed(
      `${allocationId} is ${found.PublicIp}, the environment has ${address}`,
      `Correct ${property} in lib/environments.ts: receivers rely on the address.`,
    );
  if (!found.AssociationId) return ok(`${address} (${allocationId}) is free`);

  const own = (await deployed())?.resources.find(({ type }) => type === 'AWS::EC2::NatGateway');
  const gateways =
    own &&
    (await call('ec2:DescribeNatGateways', (options) =>
      ec2.describeNatGateways({ NatGatewayIds: [own.physicalId] }, options),
    ));
  const held = gateways?.NatGateways?.[0]?.NatGatewayAddresses ?? [];
  if (held.some(({ AllocationId }) => AllocationId === allocationId))
    return ok(`${address} (${allocationId}) is on the stack's own gateway ${own?.physicalId}`);
  return failed(
    `${address} (${allocationId}) is on ${found.InstanceId || found.NetworkInterfaceId || found.AssociationId}, not on the stack's gateway`,
    `Free it: "Keeping the address" in docs/runbook.md; what holds it: aws ec2 describe-network-interfaces --filters Name=association.allocation-id,Values=${allocationId} --region ${region}`,
  );
}
