import { first } from '../support/rows';
import { type Replies, result, withResources } from './account';

export const [address, reserve] = ['203.0.113.7', '203.0.113.8'];

// biome-ignore lint/suspicious/noExplicitAny: inputs of all services
type Input = any;

/** The webhook origin of one stack, according to AWS. An update completes after a few requests for the status. */
export class OriginAccount {
  zone = '1';
  usesReserve = 'no';
  /** The stack's current status, then the next ones: one for each request. */
  statuses = ['UPDATE_COMPLETE'];
  /** The statuses of each started update. */
  update = ['UPDATE_IN_PROGRESS', 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', 'UPDATE_COMPLETE'];
  events: object[] = [];
  consumerStates = ['Enabled'];
  gateway: object = {};
  hasElasticIp = true;
  messages = '0';

  constructor(readonly hasReserve = false) {}

  get outputs() {
    return {
      WebhookOriginAddress: address,
      ...(this.hasReserve && { WebhookOriginReserveAddress: reserve }),
    };
  }

  readonly replies: Replies = {
    'cloudformation:DescribeStacks': () => result({ Stacks: [this.describeStack()] }),
    'cloudformation:UpdateStack': ({ input }) => this.beginUpdate(input),
    'cloudformation:DescribeStackEvents': () => result({ StackEvents: this.events }),
    'cloudformation:ListStackResources': (call) => this.listResources(call),
    'ec2:DescribeAddresses': () =>
      result({ addressesSet: this.hasElasticIp ? [{ allocationId: 'eipalloc-1' }] : [] }),
    'ec2:DescribeNatGateways': () => result({ natGatewaySet: [this.describeGateway()] }),
    'ec2:DescribeSubnets': ({ input }) => {
      const zone = Number(input.Filter[0].Value[0].at(-1));
      return result({ subnetSet: [{ availabilityZone: first.zones[zone - 1] }] });
    },
    'lambda:GetEventSourceMapping': ({ input: { UUID } }) =>
      result({
        FunctionArn: `arn:aws:lambda:eu:1:function:${UUID}`,
        EventSourceArn: 'arn:aws:sqs:eu:1:Queue',
        State: this.consumerState(),
      }),
    'sqs:GetQueueAttributes': () => {
      const none = { ApproximateNumberOfMessagesNotVisible: '0', ApproximateNumberOfMessagesDelayed: '0' };
      return result({ Attributes: { ApproximateNumberOfMessages: this.messages, ...none } });
    },
    'monitoring:GetMetricStatistics': () => result({ Datapoints: [{ Timestamp: 0, Maximum: 7_500 }] }),
  };

  private describeStack(): object {
    const [StackStatus] = this.statuses;
    if (this.statuses.length > 1) this.statuses.shift();
    const parameters = {
      BootstrapVersion: '/cdk-bootstrap/x/version',
      WebhookOriginZone: this.zone,
      ...(this.hasReserve && { WebhookOriginUsesReserve: this.usesReserve }),
    };
    return {
      StackStatus,
      Capabilities: ['CAPABILITY_IAM'],
      Parameters: Object.entries(parameters).map(([ParameterKey, ParameterValue]) => ({
        ParameterKey,
        ParameterValue,
      })),
      Outputs: Object.entries(this.outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue })),
    };
  }

  private beginUpdate({ Parameters, ClientRequestToken }: Input) {
    this.statuses = [...this.update];
    if (/^UPDATE_COMPLETE/.test(this.update.at(-1) ?? '')) {
      const value = (name: string) =>
        Parameters.find(({ ParameterKey }: Input) => ParameterKey === name)?.ParameterValue;
      this.zone = value('WebhookOriginZone');
      this.usesReserve = value('WebhookOriginUsesReserve') ?? 'no';
    }
    this.events = this.events.map((event) => ({ ClientRequestToken, ...event }));
    return result({});
  }

  private get isAttached(): boolean {
    return this.zone !== 'none';
  }

  private listResources(call: Parameters<Replies[string]>[0]) {
    const subnets = ['1', '2', '3'].map(
      (zone) => ['AWS::EC2::Subnet', `subnet-${zone}`, `NetworkVpcPublicSubnet${zone}SubnetA`] as const,
    );
    const replies = withResources(
      ...subnets,
      ['AWS::Lambda::EventSourceMapping', 'mapping-deliver'],
      ['AWS::Lambda::EventSourceMapping', 'mapping-fan-out'],
      ['AWS::SQS::Queue', 'https://sqs/1/WalletEu-WebhookDeliveryQueue', 'WebhookDeliveryQueue'],
      ...(this.isAttached ? [['AWS::EC2::NatGateway', `nat-${this.zone}`] as const] : []),
    );
    return replies['cloudformation:ListStackResources']?.(call) ?? {};
  }

  private describeGateway(): object {
    return {
      state: 'available',
      subnetId: `subnet-${this.zone}`,
      natGatewayAddressSet: [{ publicIp: this.usesReserve === 'yes' ? reserve : address }],
      ...this.gateway,
    };
  }

  private consumerState(): string | undefined {
    if (!this.isAttached) return 'Disabled';
    return this.consumerStates.length > 1 ? this.consumerStates.shift() : this.consumerStates[0];
  }
}
