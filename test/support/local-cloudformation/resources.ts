import type { Account } from './account';
import type { Json } from './template';

/** What was made of a template's resource. */
export interface Made {
  readonly physicalId: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Of a resource that is made. */
export interface Context {
  readonly name: string;
  /** The tags that CloudFormation gives each resource. */
  readonly tags: Readonly<Record<string, string>>;
  /** Tells the physical id before the resource is ready. */
  began(physicalId: string): void;
}

/**
 * Makes, changes and deletes resources of one type. Each is a generator: it yields where time passes. A thrown error
 * is a failure of the resource, in the words of its service.
 */
export interface ResourceType {
  /** Properties whose change means a new resource. */
  readonly replacedBy: readonly string[];
  create(account: Account, properties: Json, context: Context): Generator<undefined, Made>;
  update(account: Account, physicalId: string, properties: Json): Generator<undefined, void>;
  delete(account: Account, physicalId: string): Generator<undefined, void>;
}

/** Resources that a change of the zone never touches: that they exist is all. */
const inert: ResourceType = {
  replacedBy: [],
  *create(_account, _properties, { name }) {
    yield;
    return { physicalId: name, attributes: {} };
  },
  *update() {
    yield;
  },
  *delete() {
    yield;
  },
};

const elasticIp: ResourceType = {
  ...inert,
  *create(account) {
    yield;
    const { address, allocationId } = account.addAddress(`203.0.113.${7 + account.addresses.size}`);
    return { physicalId: address, attributes: { PublicIp: address, AllocationId: allocationId } };
  },
};

const subnet: ResourceType = {
  ...inert,
  *create(account, properties) {
    yield;
    const id = account.nextId('subnet');
    account.subnets.set(id, properties.AvailabilityZone);
    return { physicalId: id, attributes: { SubnetId: id } };
  },
};

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-natgateway.html */
const natGateway: ResourceType = {
  ...inert,
  replacedBy: ['AllocationId', 'SubnetId'],
  *create(account, { AllocationId, SubnetId }, { tags, began }) {
    const gateway = account.beginGateway(SubnetId, AllocationId, tags);
    began(gateway.id);
    while (gateway.state === 'pending') yield;
    return { physicalId: gateway.id, attributes: { NatGatewayId: gateway.id } };
  },
  *delete(account, physicalId) {
    const gateway = account.gateways.get(physicalId);
    if (!gateway || gateway.state === 'deleted') return;
    gateway.state = 'deleting';
    // The account goes on with it.
    while (account.gateways.get(physicalId)?.state === 'deleting') yield;
  },
};

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-route.html */
const route: ResourceType = {
  replacedBy: ['DestinationCidrBlock', 'RouteTableId'],
  *create(account, properties, { name }) {
    yield;
    if (properties.NatGatewayId) account.routes.set(name, properties.NatGatewayId);
    return { physicalId: name, attributes: {} };
  },
  *update(account, physicalId, properties) {
    yield;
    account.routes.set(physicalId, properties.NatGatewayId);
  },
  *delete(account, physicalId) {
    yield;
    account.routes.delete(physicalId);
  },
};

const queue: ResourceType = {
  ...inert,
  *create(account, _properties, { name }) {
    yield;
    account.queues.set(name, []);
    const arn = `arn:aws:sqs:eu-central-1:000000000000:${name}`;
    const url = `https://sqs.eu-central-1.amazonaws.com/000000000000/${name}`;
    return { physicalId: url, attributes: { Arn: arn, QueueName: name } };
  },
};

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-lambda-eventsourcemapping.html */
const eventSourceMapping: ResourceType = {
  ...inert,
  replacedBy: ['EventSourceArn'],
  *create(account, { EventSourceArn, FunctionName, Enabled }, { name }) {
    yield;
    account.mappings.set(name, {
      id: name,
      functionName: String(FunctionName),
      queueName: EventSourceArn.split(':').at(-1),
      state: Enabled === false ? 'Disabled' : 'Enabled',
    });
    return { physicalId: name, attributes: {} };
  },
  *update(account, physicalId, { Enabled }) {
    const mapping = account.mappings.get(physicalId);
    if (!mapping) throw new Error(`The resource you requested does not exist: ${physicalId}`);
    mapping.state = Enabled === false ? 'Disabling' : 'Enabling';
    yield;
    mapping.state = Enabled === false ? 'Disabled' : 'Enabled';
  },
};

const types: Readonly<Record<string, ResourceType>> = {
  'AWS::EC2::EIP': elasticIp,
  'AWS::EC2::NatGateway': natGateway,
  'AWS::EC2::Route': route,
  'AWS::EC2::Subnet': subnet,
  'AWS::Lambda::EventSourceMapping': eventSourceMapping,
  'AWS::SQS::Queue': queue,
};

export const resourceType = (type: string): ResourceType => types[type] ?? inert;
