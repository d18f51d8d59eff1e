import { first } from '../../support/rows';
import { type Call, type Replies, refusal, resource, result } from '../account';

export const [address, reserve] = ['203.0.113.7', '203.0.113.8'];
/** In this zone, of a stack with a reserve address. */
export const withReserve = (WebhookOriginZone = '1', WebhookOriginUsesReserve = 'no') => ({
  parameters: { WebhookOriginZone, WebhookOriginUsesReserve },
  outputs: { WebhookOriginAddress: address, WebhookOriginReserveAddress: reserve },
});

const keysAndValues = (name: string, values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([key, value]) => ({ [`${name}Key`]: key, [`${name}Value`]: value }));

/** An address that somebody added to the gateway. Connections leave from it only to some hosts. */
const secondary = { publicIp: '203.0.113.10', isPrimary: false };

/** What EC2 returns of all, by the first of the filters. */
function filtered({ input }: Call, name: string, all: Readonly<Record<string, object>>): readonly object[] {
  const [{ Name, Value = [] } = { Name: name, Value: Object.keys(all) }] = input.Filter ?? [];
  return Name === name ? Value.flatMap((value: string) => all[value] ?? []) : [];
}

/** The webhook origin of one stack, according to AWS. An update completes after a few requests for the status. */
export class OriginAccount {
  private status = '';
  /** The stack's next statuses: one for each request, then the last one. */
  statuses = ['UPDATE_COMPLETE'];
  /** The statuses of each started update. */
  update = ['UPDATE_IN_PROGRESS', 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', 'UPDATE_COMPLETE'];
  events: object[] = [];
  /** All consumers have the same: one for each request, then the last one. */
  consumerStates = ['Enabled'];
  gateway: object = {};
  /** Further resources, listed first. */
  resources: readonly Readonly<Record<string, string | undefined>>[] = [];
  hasElasticIp = true;
  parameters: Record<string, string> = { BootstrapVersion: '/cdk-bootstrap/x', WebhookOriginZone: '1' };
  outputs: Readonly<Record<string, string>> = { WebhookOriginAddress: address };

  constructor(changed: Partial<OriginAccount> = {}) {
    Object.assign(this, structuredClone(changed));
  }

  get zone() {
    return this.parameters.WebhookOriginZone ?? '';
  }

  readonly replies: Replies = {
    'cloudformation:DescribeStacks': () => {
      const [StackStatus = ''] = this.statuses;
      this.status = StackStatus;
      if (this.statuses.length > 1) this.statuses.shift();
      const Parameters = keysAndValues('Parameter', this.parameters);
      const Outputs = keysAndValues('Output', this.outputs);
      return result({ Stacks: [{ StackStatus, Capabilities: ['CAPABILITY_IAM'], Parameters, Outputs }] });
    },
    'cloudformation:UpdateStack': (call) => this.beginUpdate(call),
    'cloudformation:DescribeStackEvents': () => result({ StackEvents: this.events }),
    // In two pages.
    'cloudformation:ListStackResources': ({ input: { NextToken } }) => {
      const listed = [
        ...this.resources,
        ...['1', '2', '3'].map((zone) =>
          resource('AWS::EC2::Subnet', `subnet-${zone}`, `NetworkVpcPublicSubnet${zone}SubnetA`),
        ),
        resource('AWS::Lambda::EventSourceMapping', 'DeliveryQueue'),
        resource('AWS::Lambda::EventSourceMapping', 'RetryQueue'),
        resource('AWS::SQS::Queue', 'https://sqs/1/WalletEu-WebhookDeliveryQueue', 'WebhookDeliveryQueue'),
        ...(this.zone === 'none' ? [] : [resource('AWS::EC2::NatGateway', `nat-${this.zone}`)]),
      ];
      const page = NextToken ? listed.slice(4) : listed.slice(0, 4);
      return result({ StackResourceSummaries: page, NextToken: NextToken ? undefined : 'more' });
    },
    'ec2:DescribeAddresses': (call) => {
      const owned = { allocationId: 'eipalloc-1' };
      const all = { '203.0.113.99': owned, ...(this.hasElasticIp && { [address]: owned, [reserve]: owned }) };
      return result({ addressesSet: filtered(call, 'public-ip', all) });
    },
    'ec2:DescribeNatGateways': (call) => {
      const publicIp = this.parameters.WebhookOriginUsesReserve === 'yes' ? reserve : address;
      const gateway = {
        state: 'available',
        subnetId: `subnet-${this.zone}`,
        natGatewayAddressSet: [secondary, { publicIp, isPrimary: true }],
        ...this.gateway,
      };
      const all = { 'nat-other': { state: 'failed' }, [`nat-${this.zone}`]: gateway };
      return result({ natGatewaySet: filtered(call, 'nat-gateway-id', all) });
    },
    'ec2:DescribeSubnets': (call) => {
      const zones = first.zones.map((availabilityZone, at) => [`subnet-${at + 1}`, { availabilityZone }]);
      return result({ subnetSet: filtered(call, 'subnet-id', Object.fromEntries(zones)) });
    },
    'lambda:GetEventSourceMapping': ({ input: { UUID } }) => {
      const [State] = this.zone === 'none' ? ['Disabled'] : this.consumerStates;
      if (this.zone !== 'none' && this.consumerStates.length > 1) this.consumerStates.shift();
      return result({ FunctionArn: 'arn:deliver', EventSourceArn: `arn:${UUID}`, State });
    },
    'sqs:GetQueueAttributes': () => {
      const later = { ApproximateNumberOfMessagesNotVisible: '3', ApproximateNumberOfMessagesDelayed: '4' };
      return result({ Attributes: { ApproximateNumberOfMessages: '2', ...later } });
    },
    'monitoring:GetMetricStatistics': () => {
      const latest = { Timestamp: 60, Maximum: 7_500 };
      // In no order.
      return result({ Datapoints: [latest, { Timestamp: 0, Maximum: 7_440 }] });
    },
  };

  private beginUpdate({ input: { Parameters, ClientRequestToken } }: Call) {
    if (this.status.endsWith('_IN_PROGRESS')) return refusal('ValidationError', 'An update is running.');
    this.statuses = [...this.update];
    if (!this.update.includes('UPDATE_ROLLBACK_COMPLETE'))
      for (const { ParameterKey, ParameterValue = this.parameters[ParameterKey] } of Parameters)
        this.parameters[ParameterKey] = ParameterValue;
    this.events = this.events.map((event) => ({ ClientRequestToken, ...event }));
    return result({});
  }
}
