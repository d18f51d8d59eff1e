import { findingsIn } from '../../../lib/checks/residency/plugin';
import type { ResidencyBoundary } from '../../../lib/checks/residency/template';

/** An environment with the one region, and a stack without a gateway. */
const oneRegion: ResidencyBoundary = {
  stackId: 'Test',
  region: 'me-central-1',
  residencyRegions: ['me-central-1'],
  natGateways: 0,
};
/** An environment with two regions, in the first of them. */
const twoRegions = { ...oneRegion, region: 'eu-central-1', residencyRegions: ['eu-central-1', 'eu-west-1'] };
const serving = { ...oneRegion, natGateways: 1 } as const;

type Resources = Readonly<Record<string, object>>;

/** The violations, each as `rule: resource, location`. */
const refusals = (Resources: Resources, boundary: ResidencyBoundary = oneRegion, sections = {}) =>
  findingsIn({ Resources, ...sections }, boundary).map(
    ({ rule, finding: { logicalId = '-', location } }) => `${rule.id}: ${logicalId}, ${location}`,
  );

const only = (Type: string, Properties: object = {}) => ({ It: { Type, Properties } });
/** A value in a resource with unrestricted properties. */
const value = (given: unknown) => only('AWS::SQS::Queue', { Value: given });

describe('refuses a type that was not reviewed', () => {
  it.each([
    'AWS::ApiGatewayV2::Api',
    'AWS::CloudFormation::Stack',
    'AWS::CloudFront::Distribution',
    'AWS::EC2::CarrierGateway',
    'AWS::EC2::Instance',
    'AWS::EC2::NetworkInterface',
    'AWS::EC2::SecurityGroupEgress',
    'AWS::ECR::PublicRepository',
    'AWS::IAM::OIDCProvider',
    'AWS::KMS::ReplicaKey',
    'AWS::Lambda::Url',
    'AWS::S3::Bucket',
    'Company::Network::Vpc::MODULE',
    'Custom::CrossRegionExportReader',
  ])('%s', (type) => {
    expect(refusals(only(type))).toEqual(['unreviewed: It, Type']);
    expect(refusals(only(type), { ...oneRegion, globalTypes: [type] })).toEqual([]);
  });
});

describe('refuses a property that was not reviewed', () => {
  it.each(
    Object.entries({
      'AWS::ApiGateway::RestApi': ['Body', 'BodyS3Location', 'Policy'],
      'AWS::EC2::EIP': ['InstanceId'],
      'AWS::EC2::FlowLog': ['LogDestination'],
      'AWS::EC2::NatGateway': ['AvailabilityMode', 'AvailabilityZoneAddresses', 'SecondaryAllocationIds'],
      'AWS::EC2::Route': [
        'CarrierGatewayId',
        'DestinationIpv6CidrBlock',
        'TransitGatewayId',
        'VpcPeeringConnectionId',
      ],
      'AWS::EC2::SecurityGroup': ['SecurityGroupIngress'],
      'AWS::EC2::SecurityGroupIngress': ['CidrIp', 'CidrIpv6', 'SourcePrefixListId'],
      'AWS::EC2::Subnet': ['AssignIpv6AddressOnCreation', 'Ipv6CidrBlock'],
      'AWS::EC2::VPCEndpoint': ['IpAddressType'],
      'AWS::EC2::VPCGatewayAttachment': ['VpnGatewayId'],
      'AWS::Events::Rule': ['EventBusName'],
      'AWS::KMS::Key': ['MultiRegion'],
      'AWS::Lambda::EventSourceMapping': ['SelfManagedEventSource'],
      'AWS::Lambda::Function': ['Layers'],
      'AWS::RDS::DBCluster': ['NetworkType', 'ReplicationSourceIdentifier', 'SourceRegion'],
      'AWS::RDS::DBInstance': ['AutomaticBackupReplicationRegion', 'SourceDBInstanceIdentifier'],
      'AWS::SNS::Subscription': ['Region'],
      'AWS::SNS::Topic': ['Subscription'],
      'AWS::SecretsManager::Secret': ['ReplicaRegions'],
    }),
  )('%s: %j', (type, properties) => {
    for (const property of properties)
      expect(refusals(only(type, { [property]: 'x' }), twoRegions)).toContain(
        `unreviewed: It, Properties.${property}`,
      );
  });
});

const elsewhere = 'arn:aws:lambda:eu-west-1:1:function:it';
const conditional = (branch: unknown, other: unknown) => ({ 'Fn::If': ['Anything', branch, other] });
const types = (...Types: string[]) => ({ EndpointConfiguration: { Types } });

describe('refuses a value that sends data out of the region, or allows access from the internet', () => {
  it.each<[type: string, properties: object, location: string]>([
    ['AWS::ApiGateway::DomainName', types('REGIONAL', 'EDGE'), 'EndpointConfiguration.Types'],
    ['AWS::ApiGateway::RestApi', types('EDGE'), 'EndpointConfiguration.Types'],
    ['AWS::ApiGateway::RestApi', {}, 'EndpointConfiguration.Types'],
    ['AWS::ApiGateway::RestApi', types(), 'EndpointConfiguration.Types'],
    [
      'AWS::ApiGateway::RestApi',
      { EndpointConfiguration: { Types: ['REGIONAL'], IpAddressType: 'dualstack' } },
      'EndpointConfiguration.IpAddressType',
    ],
    ['AWS::ApiGateway::Method', { Integration: { Type: 'HTTP_PROXY' } }, 'Integration.Type'],
    ['AWS::EC2::Route', { DestinationCidrBlock: '10.99.0.0/16' }, 'DestinationCidrBlock'],
    [
      'AWS::EC2::SecurityGroup',
      { SecurityGroupEgress: [{ CidrIpv6: '::/0' }] },
      'SecurityGroupEgress.0.CidrIpv6',
    ],
    ['AWS::EC2::Subnet', { MapPublicIpOnLaunch: true }, 'MapPublicIpOnLaunch'],
    ['AWS::EC2::Subnet', { MapPublicIpOnLaunch: { Ref: 'Unknown' } }, 'MapPublicIpOnLaunch'],
    ['AWS::EC2::Subnet', { MapPublicIpOnLaunch: conditional(true, false) }, 'MapPublicIpOnLaunch.Fn::If.1'],
    ['AWS::Events::Rule', { Targets: [{ Arn: elsewhere }] }, 'Targets'],
    [
      'AWS::Events::Rule',
      { Targets: [{ Arn: 'arn:aws:events:eu-central-1:1:api-destination/collector/1' }] },
      'Targets.0.Arn',
    ],
    ['AWS::Lambda::EventSourceMapping', { EventSourceArn: elsewhere }, 'EventSourceArn'],
    [
      'AWS::Lambda::Function',
      { VpcConfig: { Ipv6AllowedForDualStack: true } },
      'VpcConfig.Ipv6AllowedForDualStack',
    ],
    ['AWS::RDS::DBCluster', { SnapshotIdentifier: elsewhere }, 'SnapshotIdentifier'],
    ['AWS::RDS::DBCluster', { SourceDBClusterIdentifier: elsewhere }, 'SourceDBClusterIdentifier'],
    ['AWS::RDS::DBInstance', { PubliclyAccessible: true }, 'PubliclyAccessible'],
    ['AWS::SNS::Subscription', { Protocol: 'https' }, 'Protocol'],
    ['AWS::SNS::Subscription', { Protocol: 'sqs', Endpoint: elsewhere }, 'Endpoint'],
    ['AWS::SNS::Subscription', { Protocol: 'sqs', TopicArn: elsewhere }, 'TopicArn'],
    ['AWS::WAFv2::WebACL', { Scope: 'CLOUDFRONT' }, 'Scope'],
  ])('%s %j', (type, properties, location) => {
    expect(refusals(only(type, properties), twoRegions)).toEqual([
      `value-not-allowed: It, Properties.${location}`,
    ]);
  });
});

const join = (separator: string, ...pieces: unknown[]) => ({ 'Fn::Join': [separator, pieces] });
const parameter = (about: object) => ({ Parameters: { Where: about } });

describe('refuses a region outside the list', () => {
  it.each<[name: string, given: unknown, sections?: object]>([
    ['an ARN', 'arn:aws:sqs:us-east-1:123456789012:queue'],
    ['an ARN of an unknown region', 'arn:aws:sqs:eu-north-9:123456789012:queue'],
    ['an ARN of every region', 'arn:aws:sqs:*:123456789012:queue'],
    ['a service principal', 'logs.us-east-1.amazonaws.com'],
    ['a hostname', 'https://kms.us-east-1.amazonaws.com/'],
    ['an availability zone', 'us-east-1c'],
    ['a bucket that carries its region', 'cdk-hnb659fds-assets-123456789012-us-east-1'],
    ['another case', 'US-EAST-1'],
    ['a JSON text', JSON.stringify({ nested: JSON.stringify({ region: 'us-east-1' }) })],
    ['an empty join in pieces', join('', 'us-east', join('x'), '-1')],
    ['pieces within pieces', join('', 'arn:aws:sqs:us-', join('-', 'east', '1:x:queue'))],
    [
      'pieces around a reference',
      join(':', 'arn', { Ref: 'AWS::Partition' }, 'sqs', 'us-east-1', { Ref: 'AWS::AccountId' }),
    ],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation's own placeholders
    ['a substitution', { 'Fn::Sub': ['arn:aws:sqs:${Area}-1:${AWS::AccountId}:queue', { Area: 'us-east' }] }],
    ['a branch of a condition', join('-', 'us', { 'Fn::If': ['Here', 'gov', 'east'] }, '1')],
    ['an allowed value', { Ref: 'Where' }, parameter({ AllowedValues: ['me-central-1', 'us-east-1'] })],
    [
      "an ARN's region by a free parameter",
      join('', 'arn:aws:sqs:', { Ref: 'Where' }, ':x:queue'),
      parameter({ Default: 'me-central-1' }),
    ],
  ])('%s', (...[, given, sections]) => {
    expect(refusals(value(given), oneRegion, sections)).toEqual(['foreign-region: It, Properties.Value']);
  });

  it.each<[location: string, type: string, properties: object]>([
    ['Value.A.0.B', 'AWS::SQS::Queue', { Value: { A: [{ B: 'us-east-1' }] } }],
    ['Value.us-east-1', 'AWS::SQS::Queue', { Value: { 'us-east-1': true } }],
    [
      'Environment.Variables.BUCKET_DESCRIPTION',
      'AWS::Lambda::Function',
      { Environment: { Variables: { BUCKET_DESCRIPTION: 'arn:aws:sqs:us-east-1:1:copies' } } },
    ],
    [
      'PolicyDocument.Statement.0.Resource',
      'AWS::IAM::Policy',
      { PolicyDocument: { Statement: [{ Effect: 'Allow', Resource: 'arn:aws:sqs:us-east-1:1:queue' }] } },
    ],
  ])('at %s', (location, type, properties) => {
    expect(refusals(only(type, properties))).toEqual([`foreign-region: It, Properties.${location}`]);
  });

  it('in an output', () => {
    const Outputs = { Copy: { Value: 'https://sqs.us-east-1.amazonaws.com/1/copy' } };
    expect(refusals({}, oneRegion, { Outputs })).toEqual(['foreign-region: -, Outputs.Copy.Value']);
  });

  it.each<[name: string, properties: object, boundary?: ResidencyBoundary]>([
    [
      "the stack's own region",
      {
        Arn: 'arn:aws:sqs:me-central-1:123456789012:queue',
        Reference: join(':', 'arn', { Ref: 'AWS::Partition' }, 'sqs', { Ref: 'AWS::Region' }, '1:queue'),
        // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation's own placeholders
        Substituted: { 'Fn::Sub': 'logs.${AWS::Region}.amazonaws.com ${!us-east}-1' },
        Zone: 'me-central-1a',
        Resource: { 'Fn::Select': [3, { 'Fn::Split': [':', { 'Fn::GetAtt': ['Queue', 'Arn'] }] }] },
      },
    ],
    ["the environment's other region", { Value: 'arn:aws:rds:eu-west-1:1:cluster:copy' }, twoRegions],
    ['other words', { Values: ['bonus-east-1', 'eu-west-10', 'xus-east-1', 'us-east', 'sub-central-1'] }],
    ['prose', { Description: 'Not us-east-1', Tags: [{ Key: 'compared-with', Value: 'us-east-1' }] }],
    ['a global service', { Role: 'arn:aws:iam::123456789012:role/other' }],
    ['a denial', { Statement: [{ Effect: 'Deny', Condition: { 'aws:RequestedRegion': 'us-east-1' } }] }],
  ])('but not %s', (...[, properties, boundary]) => {
    expect(refusals(only('AWS::SQS::Queue', properties), boundary)).toEqual([]);
  });

  it('fails on a value with too many variants', () => {
    const sections = parameter({ AllowedValues: Array.from({ length: 11 }, (_, index) => `part-${index}`) });
    const part = { Ref: 'Where' };
    expect(() => refusals(value(join('', part, part, part)), oneRegion, sections)).toThrow(
      /more than 1000 texts/,
    );
  });
});

describe('refuses template features that the checks cannot read or that couple stacks', () => {
  it.each<[location: string, resources: Resources, sections?: object]>([
    ['-, Transform', {}, { Transform: 'Company::Macro' }],
    ['-, Conditions.Is.Fn::FindInMap', {}, { Conditions: { Is: { 'Fn::FindInMap': ['a', 'b', 'c'] } } }],
    ['-, Mappings', {}, { Mappings: { Map: { buckets: { copy: 'us-east-1' } } } }],
    ['-, Outputs.Shared.Export', {}, { Outputs: { Shared: { Value: 'x', Export: { Name: 'shared' } } } }],
    ['It, Properties.Value.0.Fn::Transform', value([{ 'Fn::Transform': { Name: 'AWS::Include' } }])],
    ['It, Properties.Value.Fn::ImportValue', value({ 'Fn::ImportValue': 'shared' })],
    ['It, Properties.Value.Fn::GetStackOutput', value({ 'Fn::GetStackOutput': { StackName: 'Other' } })],
    ['It, Properties.Value.Fn::FindInMap', value({ 'Fn::FindInMap': ['Map', 'buckets', 'copy'] })],
    ['It, Properties.Value.Fn::GetAZs', value({ 'Fn::GetAZs': '' })],
  ])('%s', (...[location, resources, sections]) => {
    expect(refusals(resources, oneRegion, sections)).toEqual([`unreadable: ${location}`]);
  });
});

it('the webhook origin has one gateway with retained addresses of its row, and a standby has neither', () => {
  const gateway = { Type: 'AWS::EC2::NatGateway', Properties: { AllocationId: 'eipalloc-1' } };
  const address = (DeletionPolicy = 'RetainExceptOnCreate', UpdateReplacePolicy = 'Retain') => ({
    Type: 'AWS::EC2::EIP',
    DeletionPolicy,
    UpdateReplacePolicy,
  });
  const refused = (boundary: ResidencyBoundary, ...resources: object[]) =>
    refusals(Object.fromEntries(Object.entries(resources)), boundary);
  const reserving = { ...serving, elasticIps: 2 } as const;
  expect(refused(serving)).toEqual(['webhook-origin: -, Resources']);
  expect(refused(serving, gateway, gateway)).toEqual(['webhook-origin: 1, Type']);
  expect(refused(reserving, gateway, gateway)).toEqual(['webhook-origin: 1, Type']);
  expect(refused(serving, gateway, address(), address())).toEqual(['webhook-origin: 2, Type']);
  expect(refused(reserving, gateway, address(), address(), address())).toEqual(['webhook-origin: 3, Type']);
  expect(refused(oneRegion, gateway)).toEqual(['webhook-origin: 0, Type']);
  expect(refused(oneRegion, address())).toEqual(['webhook-origin: 0, Type']);
  const released = ['webhook-origin: 1, DeletionPolicy, UpdateReplacePolicy'];
  expect(refused(serving, gateway, address('Delete'))).toEqual(released);
  expect(refused(serving, gateway, address('Retain', 'RetainExceptOnCreate'))).toEqual(released);

  expect(refused(serving, gateway, address('Retain'))).toEqual([]);
  // An adopted address is no resource of the stack.
  expect(refused(serving, gateway)).toEqual([]);
  expect(refused(reserving, gateway, address(), address())).toEqual([]);
  expect(refused(oneRegion)).toEqual([]);
});

it('a public subnet contains only the gateway', () => {
  const routed = (subnet: string, route: object) => ({
    [`${subnet}Route`]: {
      Type: 'AWS::EC2::Route',
      Properties: { RouteTableId: { Ref: `${subnet}Table` }, DestinationCidrBlock: '0.0.0.0/0', ...route },
    },
    [`${subnet}Association`]: {
      Type: 'AWS::EC2::SubnetRouteTableAssociation',
      Properties: { RouteTableId: { Ref: `${subnet}Table` }, SubnetId: { Ref: subnet } },
    },
  });
  const functionIn = (...SubnetIds: object[]) => ({
    Type: 'AWS::Lambda::Function',
    Properties: { VpcConfig: { SubnetIds } },
  });
  const resources = {
    ...routed('Public', { GatewayId: { Ref: 'Internet' } }),
    ...routed('Private', { NatGatewayId: { Ref: 'Nat' } }),
    Nat: { Type: 'AWS::EC2::NatGateway', Properties: { SubnetId: { Ref: 'Public' } } },
    Inside: functionIn({ Ref: 'Private' }),
    One: functionIn({ Ref: 'Private' }, { Ref: 'Public' }),
    Two: functionIn({ 'Fn::GetAtt': ['Public', 'SubnetId'] }),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation's own placeholders
    Three: functionIn({ 'Fn::Sub': '${Public.SubnetId}' }),
  };
  expect(refusals(resources, serving)).toEqual(
    ['One', 'Two', 'Three'].map((id) => `public-subnet: ${id}, Properties.VpcConfig`),
  );
});

describe('a policy for everybody', () => {
  const everybody = { Effect: 'Allow', Principal: '*', Action: '*' };
  const policy = (statement: object) =>
    only('AWS::SQS::QueuePolicy', { PolicyDocument: { Statement: [{ ...everybody, ...statement }] } });

  it.each<[name: string, statement: object]>([
    ['without a condition', {}],
    ['by its accounts', { Principal: { AWS: ['123456789012', '*'] } }],
    ['by its identity providers', { Principal: { Federated: '*' } }],
    ['in a branch', { Principal: { AWS: conditional('123456789012', '*') } }],
    ['but one', { Principal: undefined, NotPrincipal: { AWS: '123456789012' } }],
    ['denied in one branch only', { Effect: conditional('Deny', 'Allow') }],
    ['from one address', { Condition: { IpAddress: { 'aws:SourceIp': '203.0.113.7' } } }],
    ['of one account', { Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } } }],
  ])('is refused: %s', (_, statement) => {
    expect(refusals(policy(statement))).toEqual(['public-policy: It, Properties.PolicyDocument.Statement.0']);
  });

  it.each<[location: string, type: string, properties: object]>([
    [
      '.PolicyDocument',
      'AWS::SQS::QueuePolicy',
      { PolicyDocument: JSON.stringify({ Statement: everybody }) },
    ],
    ['.KeyPolicy', 'AWS::KMS::Key', { KeyPolicy: { 'Fn::Sub': '{}' } }],
    ['.KeyPolicy.Fn::If.2', 'AWS::KMS::Key', { KeyPolicy: conditional({ Statement: [] }, '{}') }],
    [
      '.KeyPolicy.Statement.0.Fn::If.1',
      'AWS::KMS::Key',
      { KeyPolicy: { Statement: [conditional(everybody, {})] } },
    ],
    ['', 'AWS::Lambda::Permission', { Principal: '*', SourceAccount: { Ref: 'AWS::AccountId' } }],
  ])('is refused at Properties%s of %s', (location, type, properties) => {
    expect(refusals(only(type, properties))).toEqual([`public-policy: It, Properties${location}`]);
  });

  it('is allowed in a denial, and on a VPC endpoint, where everybody means its network', () => {
    expect(refusals(policy({ Effect: 'Deny' }))).toEqual([]);
    expect(refusals(only('AWS::EC2::VPCEndpoint', { PolicyDocument: { Statement: everybody } }))).toEqual([]);
  });

  it('does not include one for a single service', () => {
    expect(refusals(policy({ Principal: { Service: 'sns.amazonaws.com' } }))).toEqual([]);
    expect(refusals(only('AWS::Lambda::Permission', { Principal: 'apigateway.amazonaws.com' }))).toEqual([]);
  });
});

describe('a dashboard, which is global', () => {
  const dashboard = (body: object | string) =>
    only('AWS::CloudWatch::Dashboard', {
      DashboardBody: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const widget = (type: string, properties: object) => ({
    widgets: [{ type, properties: { region: 'me-central-1', ...properties } }],
  });
  const metric = ['AWS/SQS', 'NumberOfMessagesSent', 'QueueName', 'events'];

  it.each<[location: string, body: object | string]>([
    ['.widgets.0.type', widget('log', { query: 'fields ip' })],
    ['.widgets.0.type', widget('custom', { endpoint: 'arn:aws:lambda:me-central-1:1:function:f' })],
    ['.widgets.0.properties.region', widget('metric', { metrics: [metric], region: undefined })],
    ['.widgets.0.properties.metrics.0.0.accountId', widget('metric', { metrics: [[{ accountId: '1' }]] })],
    ['.widgets.0.properties.insightRule', widget('metric', { insightRule: { ruleName: 'callers' } })],
    ...['INSIGHT_RULE_METRIC', 'LAMBDA'].map((name): [string, object] => [
      '.widgets.0.properties.metrics.0.0.expression',
      widget('metric', { metrics: [[{ expression: `${name}('callers', 'Sum')` }]] }),
    ]),
    ['.variables', { variables: [{ type: 'property' }], widgets: [] }],
    ['', 'widgets'],
  ])('is refused at DashboardBody%s', (location, body) => {
    expect(refusals(dashboard(body))).toEqual([`dashboard-content: It, Properties.DashboardBody${location}`]);
  });

  it("may show only metrics of the environment's regions", () => {
    const elsewhere = dashboard(widget('metric', { metrics: [metric], region: 'eu-west-1' }));
    expect(refusals(elsewhere, twoRegions)).toEqual([]);
    expect(refusals(elsewhere)).toContain(
      'dashboard-content: It, Properties.DashboardBody.widgets.0.properties.region',
    );
  });
});

it('refuses a global database in an environment with one region', () => {
  const resources = {
    Global: { Type: 'AWS::RDS::GlobalCluster' },
    Member: { Type: 'AWS::RDS::DBCluster', Properties: { GlobalClusterIdentifier: 'wallet' } },
  };
  expect(refusals(resources)).toEqual([
    'value-not-allowed: Global, Properties.GlobalClusterIdentifier',
    'value-not-allowed: Member, Properties.GlobalClusterIdentifier',
  ]);
  expect(refusals(resources, twoRegions)).toEqual([]);
});
