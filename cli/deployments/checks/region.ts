import { Account } from '@aws-sdk/client-account';
import { EC2 } from '@aws-sdk/client-ec2';
import { SSM } from '@aws-sdk/client-ssm';
import { ask, clientSettings, unlessRefused } from '../../shell/aws';
import { inProject } from '../../shell/paste';
import { type Check, failed, warning } from './check';

export const regionChecks: readonly Check[] = [
  {
    // https://docs.aws.amazon.com/accounts/latest/reference/API_GetRegionOptStatus.html
    id: 'region',
    async ask({ stack: { region } }) {
      const account = new Account(clientSettings(region));
      const { RegionOptStatus: status = '' } = await ask(account, 'getRegionOptStatus', {
        RegionName: region,
      });
      const found = `${region} is ${status}`;
      if (/^ENABLED/.test(status)) return found;
      return failed(
        found,
        `Enable it, which takes minutes to hours: aws account enable-region --region-name ${region}`,
      );
    },
  },
  {
    id: 'bootstrap',
    async ask({ stack: { region, bootstrap }, account }) {
      const ssm = new SSM(clientSettings(region));
      const answer = await unlessRefused(/^ParameterNotFound$/, () =>
        ask(ssm, 'getParameter', { Name: bootstrap.parameter }),
      );
      const version = answer?.Parameter?.Value;
      const found = `version ${version ?? 'none'}, required: ${bootstrap.version} or later`;
      if (Number(version) >= bootstrap.version) return found;
      return failed(
        found,
        `Bootstrap the region: ${inProject(`npx cdk bootstrap aws://${account}/${region}`)}`,
      );
    },
  },
  {
    // All zones of the region: if two of three are unavailable, so may be the region (docs/decisions/loss-of-a-region.md).
    id: 'zones',
    async ask({ zones, stack: { region } }) {
      const ec2 = new EC2(clientSettings(region));
      const Filters = [{ Name: 'zone-type', Values: ['availability-zone'] }];
      const { AvailabilityZones = [] } = await ask(ec2, 'describeAvailabilityZones', { Filters });
      const states = new Map(zones.map((zone) => [zone, 'missing']));
      for (const { ZoneName = '', State = '' } of AvailabilityZones) states.set(ZoneName, State);
      const found = [...states].map(([zone, state]) => `${zone} is ${state}`).join(', ');
      if ([...states.values()].every((state) => state === 'available')) return found;
      const remedy =
        'List zones that the account has in lib/environments.ts, and wait for the others, unless this deployment is the fix: "A zone is gone" in docs/runbook.md.';
      return warning(found, remedy);
    },
  },
];
