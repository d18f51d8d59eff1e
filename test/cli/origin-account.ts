import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { EC2Client } from '@aws-sdk/client-ec2';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SQSClient } from '@aws-sdk/client-sqs';
import { first } from '../support/rows';

export const addresses = { one: '203.0.113.7', reserve: '203.0.113.8' };
export const outputs = (hasReserve: boolean) => ({
  [first.stackId]: {
    WebhookOriginAddress: addresses.one,
    ...(hasReserve && { WebhookOriginReserveAddress: addresses.reserve }),
  },
});

// biome-ignore lint/suspicious/noExplicitAny: inputs of all services
type Input = any;

const zones = ['1', '2', '3'];
const resources = [
  ['NetworkVpcPublicSubnet1SubnetA', 'AWS::EC2::Subnet', 'subnet-1'],
  ['NetworkVpcPublicSubnet2SubnetB', 'AWS::EC2::Subnet', 'subnet-2'],
  ['NetworkVpcPublicSubnet3SubnetC', 'AWS::EC2::Subnet', 'subnet-3'],
  ['WebhooksDeliverSource', 'AWS::Lambda::EventSourceMapping', 'mapping-deliver'],
  ['WebhooksFanOutSource', 'AWS::Lambda::EventSourceMapping', 'mapping-fan-out'],
  ['WebhookDeliveryQueue', 'AWS::SQS::Queue', 'https://sqs/1/WalletEu-WebhookDeliveryQueue'],
  ['WebhookDeliveryDeadLetterQueue', 'AWS::SQS::Queue', 'https://sqs/1/WalletEu-DeadLetters'],
];

/** AWS responses about one stack's webhook origin. An update completes after a few status requests. */
export class OriginAccount {
  readonly calls: { readonly action: string; readonly input: Input }[] = [];
  readonly location = { zone: '1', reserve: 'no' };
  /** The stack's current status, then the next ones: one for each request. */
  statuses = ['UPDATE_COMPLETE'];
  /** The statuses of each started update. */
  update: readonly string[] = [
    'UPDATE_IN_PROGRESS',
    'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS',
    'UPDATE_COMPLETE',
  ];
  events: object[] = [];
  mappingStates = ['Enabled'];
  gateway: Readonly<Record<string, unknown>> = {};
  hasElasticIp = true;
  messages = 0;
  /** Actions that are refused, with the error. */
  readonly refused = new Map<string, Error>();

  constructor(public hasReserve = false) {}

  /** Directs every SDK client in this process to this account. */
  intercept(): void {
    const clients = [CloudFormationClient, CloudWatchClient, EC2Client, LambdaClient, SQSClient];
    for (const { prototype } of clients as readonly { prototype: { send(command: Input): unknown } }[])
      jest
        .spyOn(prototype, 'send')
        .mockImplementation(async (command) =>
          this.answer(command.constructor.name.replace(/Command$/, ''), command.input),
        );
  }

  answer(action: string, input: Input): object {
    this.calls.push({ action, input });
    const refusal = this.refused.get(action);
    if (refusal) throw refusal;
    const answers: Readonly<Record<string, () => object>> = {
      DescribeStacks: () => ({ Stacks: [this.describeStack()] }),
      UpdateStack: () => this.beginUpdate(input),
      DescribeStackEvents: () => ({ StackEvents: this.events }),
      ListStackResources: () => ({ StackResourceSummaries: this.listResources() }),
      DescribeAddresses: () => ({ Addresses: this.hasElasticIp ? [{ AllocationId: 'eipalloc-1' }] : [] }),
      DescribeNatGateways: () => ({ NatGateways: [this.describeGateway()] }),
      DescribeSubnets: () => ({
        Subnets: [{ AvailabilityZone: first.zones[Number(input.Filters[0].Values[0].at(-1)) - 1] }],
      }),
      GetEventSourceMapping: () => ({
        FunctionArn: `arn:aws:lambda:eu:1:function:${input.UUID}`,
        EventSourceArn: 'arn:aws:sqs:eu:1:Queue',
        State: this.mappingState(),
      }),
      GetQueueAttributes: () => ({
        Attributes: {
          ApproximateNumberOfMessages: input.QueueUrl.endsWith('DeliveryQueue') ? `${this.messages}` : '0',
          ApproximateNumberOfMessagesNotVisible: '0',
          ApproximateNumberOfMessagesDelayed: '0',
        },
      }),
      GetMetricStatistics: () => ({ Datapoints: [{ Timestamp: new Date(0), Maximum: 7_500 }] }),
    };
    return answers[action]?.() ?? {};
  }

  updates(): readonly string[] {
    return this.calls
      .filter(({ action }) => action === 'UpdateStack')
      .map(({ input }) =>
        input.Parameters.flatMap(({ ParameterValue = [] }: Input) => ParameterValue).join(' '),
      );
  }

  private describeStack(): object {
    const status = this.statuses[0];
    if (this.statuses.length > 1) this.statuses.shift();
    return {
      StackStatus: status,
      Capabilities: ['CAPABILITY_IAM'],
      Parameters: [
        { ParameterKey: 'BootstrapVersion', ParameterValue: '/cdk-bootstrap/x/version' },
        { ParameterKey: 'WebhookOriginZone', ParameterValue: this.location.zone },
        ...(this.hasReserve
          ? [{ ParameterKey: 'WebhookOriginUsesReserve', ParameterValue: this.location.reserve }]
          : []),
      ],
      Outputs: Object.entries(outputs(this.hasReserve)[first.stackId] ?? {}).map(
        ([OutputKey, OutputValue]) => ({ OutputKey, OutputValue }),
      ),
    };
  }

  private beginUpdate({ Parameters, ClientRequestToken }: Input): object {
    this.statuses = [...this.update];
    if (this.update.at(-1) === 'UPDATE_COMPLETE' || this.update.at(-1)?.includes('CLEANUP')) {
      const value = (name: string) =>
        Parameters.find(({ ParameterKey }: Input) => ParameterKey === name)?.ParameterValue;
      this.location.zone = value('WebhookOriginZone');
      this.location.reserve = value('WebhookOriginUsesReserve') ?? 'no';
    }
    this.events = this.events.map((event) => ({ ClientRequestToken, ...event }));
    return {};
  }

  private listResources(): object[] {
    const gateway = ['WebhookOriginNatGateway', 'AWS::EC2::NatGateway', `nat-${this.location.zone}`];
    const existing = zones.includes(this.location.zone) ? [...resources, gateway] : resources;
    return existing.map(([LogicalResourceId, ResourceType, PhysicalResourceId]) => ({
      LogicalResourceId,
      ResourceType,
      PhysicalResourceId,
      ResourceStatus: 'UPDATE_COMPLETE',
    }));
  }

  private describeGateway(): object {
    const PublicIp = addresses[this.location.reserve === 'yes' ? 'reserve' : 'one'];
    return {
      State: 'available',
      SubnetId: `subnet-${this.location.zone}`,
      NatGatewayAddresses: [{ PublicIp }],
      ...this.gateway,
    };
  }

  private mappingState(): string | undefined {
    if (!zones.includes(this.location.zone)) return 'Disabled';
    return this.mappingStates.length > 1 ? this.mappingStates.shift() : this.mappingStates[0];
  }
}

/** An error as the SDK throws it for a refused call. */
export const refusal = (name: string, message: string) =>
  Object.assign(new Error(message), { name, $fault: 'client' });
