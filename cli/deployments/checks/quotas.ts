import { EC2 } from '@aws-sdk/client-ec2';
import { Lambda } from '@aws-sdk/client-lambda';
import { ServiceQuotas } from '@aws-sdk/client-service-quotas';
import { checkThrottle } from '../../../lib/environments';
import { callAws, clientSettings, unlessRefused } from '../../shell/aws';
import { type Check, type Context, existing, failed, planned } from './check';

/** AWS's default, which a new account may not have: docs/deploying.md. */
const usualConcurrency = 1_000;

export const quotaChecks: readonly Check[] = [
  {
    // A new account may have 10 instead of 1,000: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html,
    // https://github.com/aws-samples/aws-secure-environment-accelerator/issues/1002
    id: 'lambda-concurrency',
    async run({ environment, stack }) {
      if (planned(stack, 'AWS::ApiGateway::Stage').length === 0) return 'the stack has no API';
      const { region } = stack;
      const { AccountLimit } = await callAws(new Lambda(clientSettings(region)), 'getAccountSettings', {});
      const { ConcurrentExecutions: all = 0, UnreservedConcurrentExecutions: free = 0 } = AccountLimit ?? {};
      const burst = environment.throttle.burst + checkThrottle(environment).burst;
      const found = `${free} of ${all} executions unreserved, the bursts of API and check are ${burst}`;
      if (free >= burst) return found;
      const wanted = Math.max(usualConcurrency, all - free + burst);
      return failed(found, increase('lambda', 'L-B99A9384', wanted, region));
    },
  },
  {
    id: 'elastic-ips',
    async run(context) {
      const ec2 = new EC2(clientSettings(context.stack.region));
      const count = async () => (await callAws(ec2, 'describeAddresses', {})).Addresses?.length;
      return checkQuota(context, 'AWS::EC2::EIP', 'ec2', 'L-0263D0A3', count);
    },
  },
  {
    id: 'vpcs',
    async run(context) {
      const ec2 = new EC2(clientSettings(context.stack.region));
      const count = async () => (await callAws(ec2, 'describeVpcs', { MaxResults: 1_000 })).Vpcs?.length;
      return checkQuota(context, 'AWS::EC2::VPC', 'vpc', 'L-F678F1CE', count);
    },
  },
];

async function checkQuota(
  context: Context,
  type: string,
  ServiceCode: string,
  QuotaCode: string,
  count: () => Promise<number | undefined>,
) {
  const { stack } = context;
  const needed = planned(stack, type).length - (await existing(context, type)).length;
  if (needed <= 0) return 'the deployment adds none';
  const quotas = new ServiceQuotas(clientSettings(stack.region));
  const input = { ServiceCode, QuotaCode };
  // Some quotas have no applied value, only the default:
  // https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/API_GetServiceQuota.html
  const { Quota } =
    (await unlessRefused(/^NoSuchResource/, () => callAws(quotas, 'getServiceQuota', input))) ??
    (await callAws(quotas, 'getAWSDefaultServiceQuota', input));
  const quota = Quota?.Value ?? 0;
  const used = (await count()) ?? 0;
  const found = `${used} of ${quota} used, the deployment adds ${needed}`;
  return used + needed <= quota
    ? found
    : failed(found, increase(ServiceCode, QuotaCode, used + needed, stack.region));
}

const increase = (service: string, quota: string, value: number, region: string): string =>
  `Request a higher quota, which can take days: aws service-quotas request-service-quota-increase --service-code ${service} --quota-code ${quota} --desired-value ${value} --region ${region}`;
