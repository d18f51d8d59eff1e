import { templateRules } from '../../../lib/checks/residency/plugin';
import { type ResidencyBoundary, readTemplate } from '../../../lib/checks/residency/template';

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
const reserving = { ...serving, elasticIps: 2 } as const;

type Resources = Readonly<Record<string, object>>;

/** The violations, each as `rule: resource, location`. */
function refusals(Resources: Resources, boundary: ResidencyBoundary = oneRegion, sections = {}) {
  const template = readTemplate({ Resources, ...sections }, boundary);
  return templateRules.flatMap((rule) =>
    Array.from(
      rule.find(template),
      ({ logicalId = '-', location }) => `${rule.id}: ${logicalId}, ${location}`,
    ),
  );
}

const only = (Type: string, Properties: object = {}) => ({ It: { Type, Properties } });
/** A value in a resource with unrestricted properties. */
const value = (given: unknown) => only('AWS::SQS::Queue', { Value: given });

describe('refuses a type that was not reviewed', () => {
  it.each([
    'AWS::ApiGatewayV2::Api',
    'AWS::Backup::BackupPlan',
    'AWS::CloudFormation::Stack',
    'AWS::CloudFront::Distribution',
    'AWS::DynamoDB::GlobalTable',
    'AWS::EC2::CarrierGateway',
    'AWS::EC2::EgressOnlyInternetGateway',
    'AWS::EC2::Instance',
    'AWS::EC2::NetworkInterface',
    'AWS::EC2::SecurityGroupEgress',
    'AWS::EC2::VPCPeeringConnection',
    'AWS::ECR::PublicRepository',
    'AWS::IAM::OIDCProvider',
    'AWS::KMS::ReplicaKey',
    'AWS::Lambda::Url',
    'AWS::Logs::SubscriptionFilter',
    'AWS::S3::Bucket',
    'AWS::Scheduler::Schedule',
    'Company::Network::Vpc::MODULE',
    'Custom::CrossRegionExportReader',
  ])('%s', (type) => {
    expect(refusals(only(type))).toEqual(['unreviewed: It, Type']);
  });

  it('except a global type in a stack that may have it', () => {
    const type = 'AWS::IAM::OIDCProvider';
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
    ["another environment's", 'arn:aws:sqs:eu-north-1:1:queue'],
    ['a service principal', 'logs.us-east-1.amazonaws.com'],
    ['a hostname', 'https://kms.us-east-1.amazonaws.com/'],
    ['an old hostname', 's3-us-east-1.amazonaws.com'],
    ['an availability zone', 'us-east-1c'],
    ['a bucket that carries its region', 'cdk-hnb659fds-assets-123456789012-us-east-1'],
    ['another case', 'US-EAST-1'],
    ['a JSON text', JSON.stringify({ nested: JSON.stringify({ region: 'us-east-1' }) })],
    ['pieces', join('-', 'arn:aws:sqs:us', 'east', '1:123456789012:queue')],
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

const elasticIp = {
  Type: 'AWS::EC2::EIP',
  DeletionPolicy: 'RetainExceptOnCreate',
  UpdateReplacePolicy: 'Retain',
};
const gateway = { Type: 'AWS::EC2::NatGateway', Properties: { AllocationId: 'eipalloc-1' } };

describe('the webhook origin', () => {
  it.each<[refusal: string, resources: Resources, boundary: ResidencyBoundary]>([
    ['nat-count: -, Resources', {}, serving],
    ['nat-count: Two, Type', { One: gateway, Two: gateway }, serving],
    ['nat-count: Two, Type', { One: gateway, Two: gateway }, reserving],
    ['nat-count: One, Type', { One: gateway }, oneRegion],
    ['nat-count: Address, Type', { Address: elasticIp }, oneRegion],
    ['nat-count: Second, Type', { One: gateway, Address: elasticIp, Second: elasticIp }, serving],
    [
      'nat-count: Third, Type',
      { One: gateway, Address: elasticIp, Second: elasticIp, Third: elasticIp },
      reserving,
    ],
    [
      'elastic-ip-not-retained: Address, DeletionPolicy',
      { One: gateway, Address: { ...elasticIp, DeletionPolicy: 'Delete' } },
      serving,
    ],
    [
      'elastic-ip-not-retained: Address, UpdateReplacePolicy',
      { One: gateway, Address: { ...elasticIp, UpdateReplacePolicy: undefined } },
      serving,
    ],
  ])('is refused with %s', (refusal, resources, boundary) => {
    expect(refusals(resources, boundary)).toEqual([refusal]);
  });

  it.each<[name: string, resources: Resources, boundary: ResidencyBoundary]>([
    [
      'one gateway with its address',
      { One: gateway, Address: { ...elasticIp, DeletionPolicy: 'Retain' } },
      serving,
    ],
    ['an adopted address', { One: gateway }, serving],
    ['the reserve that the row asks for', { One: gateway, Address: elasticIp, Second: elasticIp }, reserving],
    ['nothing in a standby', {}, oneRegion],
  ])('may be %s', (_, resources, boundary) => {
    expect(refusals(resources, boundary)).toEqual([]);
  });
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
  const inSubnet = (subnet: string) => ({ VpcConfig: { SubnetIds: [{ Ref: subnet }] } });
  const resources = {
    ...routed('Public', { GatewayId: { Ref: 'Internet' } }),
    ...routed('Private', { NatGatewayId: { Ref: 'Nat' } }),
    Nat: { Type: 'AWS::EC2::NatGateway', Properties: { SubnetId: { Ref: 'Public' } } },
    Inside: { Type: 'AWS::Lambda::Function', Properties: inSubnet('Private') },
    Outside: { Type: 'AWS::Lambda::Function', Properties: inSubnet('Public') },
  };
  expect(refusals(resources, serving)).toEqual(['public-subnet: Outside, Properties.VpcConfig']);
});

describe('a policy for everybody', () => {
  const allow = (statement: object) => ({ Effect: 'Allow', Principal: '*', Action: '*', ...statement });
  const policy = (statement: object) =>
    only('AWS::SQS::QueuePolicy', { PolicyDocument: { Statement: [statement] } });

  it.each<[name: string, statement: object]>([
    ['without a condition', {}],
    ['by its accounts', { Principal: { AWS: ['*'] } }],
    ['by its identity providers', { Principal: { Federated: '*' } }],
    ['but one', { Principal: undefined, NotPrincipal: { AWS: '123456789012' } }],
    ...[
      { Bool: { 'aws:SecureTransport': 'true' } },
      { IpAddress: { 'aws:SourceIp': '203.0.113.7' } },
      { StringEquals: { 'aws:SourceIp': '203.0.113.7' } },
      { StringNotEquals: { 'aws:SourceAccount': '123456789012' } },
      { StringLike: { 'aws:PrincipalArn': '*' } },
      { ArnLike: { 'aws:PrincipalArn': 'arn:aws:iam::*:*' } },
      { StringLike: { 'aws:PrincipalOrgID': 'o-*' } },
      { StringEquals: { 'aws:SourceAccount': ['123456789012', '*'] } },
      { StringEquals: { 'aws:SourceAccount': [] } },
      { Null: { 'aws:SourceArn': 'true' } },
      { 'ForAllValues:StringEquals': { 'aws:PrincipalOrgPaths': 'o-a1b2c3/r-1/' } },
    ].map((Condition): [string, object] => [JSON.stringify(Condition), { Condition }]),
  ])('is refused: %s', (_, statement) => {
    expect(refusals(policy(allow(statement)))).toEqual([
      'public-policy: It, Properties.PolicyDocument.Statement.0',
    ]);
  });

  it.each([
    { ArnEquals: { 'aws:SourceArn': 'arn:aws:sns:me-central-1:1:topic' } },
    { 'ForAnyValue:StringLike': { 'aws:PrincipalOrgPaths': ['o-a1b2c3/r-1/*'] } },
    { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
  ])('is allowed with the condition %j', (Condition) => {
    expect(refusals(policy(allow({ Condition })))).toEqual([]);
  });

  it('is allowed in a denial, and on a VPC endpoint, where everybody means its network', () => {
    expect(refusals(policy({ ...allow({}), Effect: 'Deny' }))).toEqual([]);
    expect(refusals(only('AWS::EC2::VPCEndpoint', { PolicyDocument: { Statement: allow({}) } }))).toEqual([]);
  });

  it.each<[location: string, type: string, properties: object]>([
    ['PolicyDocument', 'AWS::SQS::QueuePolicy', { PolicyDocument: JSON.stringify({ Statement: allow({}) }) }],
    [
      'KeyPolicy.Statement.0.Fn::If.1',
      'AWS::KMS::Key',
      { KeyPolicy: { Statement: [conditional(allow({}), {})] } },
    ],
    ['Principal', 'AWS::Lambda::Permission', { Principal: '*' }],
    ['Principal', 'AWS::Lambda::Permission', { Principal: '*', SourceArn: '*' }],
  ])('is refused at %s of %s', (location, type, properties) => {
    expect(refusals(only(type, properties))).toEqual([`public-policy: It, Properties.${location}`]);
  });

  it('does not include one for a single service', () => {
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
    ['.widgets.0.type', widget('explorer', {})],
    ['.widgets.0.properties.region', widget('metric', { metrics: [metric], region: undefined })],
    [
      '.widgets.0.properties.metrics.0.4.accountId',
      widget('metric', { metrics: [[...metric, { accountId: '123456789012' }]] }),
    ],
    ['.widgets.0.properties.insightRule', widget('metric', { insightRule: { ruleName: 'callers' } })],
    [
      '.widgets.0.properties.metrics.0.0.expression',
      widget('metric', { metrics: [[{ expression: "INSIGHT_RULE_METRIC('callers', 'Sum')" }]] }),
    ],
    [
      '.widgets.0.properties.metrics.0.0.expression',
      widget('metric', { metrics: [[{ expression: "LAMBDA('connector', 'select *')" }]] }),
    ],
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
    'global-database: Global, Type',
    'global-database: Member, Properties.GlobalClusterIdentifier',
  ]);
  expect(refusals(resources, twoRegions)).toEqual([]);
});
