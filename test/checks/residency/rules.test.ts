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

type Resources = Readonly<Record<string, object>>;

/** The violations, each as `rule: resource, location`. */
const refusals = (Resources: Resources, boundary: ResidencyBoundary = oneRegion, sections = {}) =>
  findingsIn({ Resources, ...sections }, boundary).map(
    ({ rule, finding: { logicalId = '-', location } }) => `${rule.id}: ${logicalId}, ${location}`,
  );

const only = (Type: string, Properties: object = {}) => ({ It: { Type, Properties } });
/** A value in a resource with unrestricted properties. */
const value = (given: unknown) => only('AWS::SQS::Queue', { Value: given });
const conditional = (branch: unknown, other: unknown) => ({ 'Fn::If': ['Anything', branch, other] });
const join = (separator: string, ...pieces: unknown[]) => ({ 'Fn::Join': [separator, pieces] });
const substitute = (...given: unknown[]) => ({ 'Fn::Sub': given.length > 1 ? given : given[0] });
const queueIn = (region: string) => `arn:aws:sqs:${region}:1:queue`;

it.each([
  'AWS::ApiGatewayV2::Api',
  'AWS::CloudFormation::Stack',
  'AWS::CloudFront::Distribution',
  'AWS::EC2::CarrierGateway',
  'AWS::EC2::Instance',
  'AWS::EC2::SecurityGroupEgress',
  'AWS::IAM::OIDCProvider',
  'AWS::KMS::ReplicaKey',
  'AWS::Lambda::Url',
  'AWS::S3::Bucket',
  'Company::Network::Vpc::MODULE',
  'Custom::CrossRegionExportReader',
])('refuses %s, a type that was not reviewed', (type) => {
  expect(refusals(only(type))).toEqual(['unreviewed: It, Type']);
  expect(refusals(only(type), { ...oneRegion, globalTypes: [type] })).toEqual([]);
});

/** Each would open another way out of the region, or into it. */
it.each([
  ['AWS::Backup::BackupVault', ['AccessPolicy', 'EncryptionKeyArn', 'LockConfiguration', 'Notifications']],
  ['AWS::Backup::LogicallyAirGappedBackupVault', ['AccessPolicy', 'EncryptionKeyArn', 'MpaApprovalTeamArn']],
  ['AWS::Backup::LogicallyAirGappedBackupVault', ['Notifications']],
  ['AWS::ApiGateway::RestApi', ['Body', 'BodyS3Location', 'Policy']],
  ['AWS::EC2::EIP', ['InstanceId']],
  ['AWS::EC2::FlowLog', ['LogDestination']],
  ['AWS::EC2::NatGateway', ['AvailabilityMode', 'AvailabilityZoneAddresses', 'SecondaryAllocationIds']],
  ['AWS::EC2::Route', ['CarrierGatewayId', 'DestinationIpv6CidrBlock', 'TransitGatewayId']],
  ['AWS::EC2::Route', ['VpcPeeringConnectionId']],
  ['AWS::EC2::SecurityGroup', ['SecurityGroupIngress']],
  ['AWS::EC2::SecurityGroupIngress', ['CidrIp', 'CidrIpv6', 'SourcePrefixListId']],
  ['AWS::EC2::Subnet', ['AssignIpv6AddressOnCreation', 'Ipv6CidrBlock']],
  ['AWS::EC2::VPCGatewayAttachment', ['VpnGatewayId']],
  ['AWS::Events::Rule', ['EventBusName']],
  ['AWS::KMS::Key', ['MultiRegion']],
  ['AWS::Lambda::EventSourceMapping', ['SelfManagedEventSource']],
  ['AWS::Lambda::Function', ['Layers']],
  ['AWS::RDS::DBCluster', ['NetworkType', 'ReplicationSourceIdentifier', 'SourceRegion']],
  ['AWS::RDS::DBInstance', ['AutomaticBackupReplicationRegion', 'SourceDBInstanceIdentifier']],
  ['AWS::SNS::Subscription', ['Region']],
  ['AWS::SecretsManager::Secret', ['ReplicaRegions']],
])('refuses properties of %s that were not reviewed: %j', (type, properties) => {
  for (const property of properties) {
    const refused = refusals(only(type, { [property]: 'x' }), twoRegions);
    expect(refused).toContain(`unreviewed: It, Properties.${property}`);
  }
});

const elsewhere = 'arn:aws:lambda:eu-west-1:1:function:it';
const apiDestination = 'arn:aws:events:eu-central-1:1:api-destination/collector/1';
/** The properties with this value at the path. */
const propertiesWith = (path: string, given: unknown) =>
  path
    .split('.')
    .reduceRight<unknown>((inner, name) => (name === '0' ? [inner] : { [name]: inner }), given) as object;

describe('refuses a value that sends data out of the region, or allows access from the internet', () => {
  it.each<[type: string, path: string, value: unknown]>([
    ['AWS::ApiGateway::DomainName', 'EndpointConfiguration.Types', ['REGIONAL', 'EDGE']],
    ['AWS::ApiGateway::RestApi', 'EndpointConfiguration.Types', undefined],
    ['AWS::ApiGateway::RestApi', 'EndpointConfiguration.Types', []],
    ['AWS::ApiGateway::Method', 'Integration.Type', 'HTTP_PROXY'],
    ['AWS::Backup::BackupPlan', 'BackupPlan.BackupPlanRule.0', { CopyActions: [] }],
    ['AWS::Backup::BackupPlan', 'BackupPlan', { ScanSettings: [] }],
    [
      'AWS::Backup::BackupPlan',
      'BackupPlan.BackupPlanRule.0.TargetLogicallyAirGappedBackupVaultArn',
      'arn:aws:backup:eu-central-1:999999999999:backup-vault:theirs',
    ],
    ['AWS::Backup::RestoreTestingSelection', 'RestoreMetadataOverrides', undefined],
    ['AWS::Backup::RestoreTestingSelection', 'RestoreMetadataOverrides', { dbSubnetGroupName: 'x' }],
    [
      'AWS::Backup::RestoreTestingSelection',
      'RestoreMetadataOverrides',
      { dbSubnetGroupName: 'x', vpcSecurityGroupIds: 'x', port: '1' },
    ],
    ['AWS::EC2::Route', 'DestinationCidrBlock', '10.99.0.0/16'],
    ['AWS::EC2::Subnet', 'MapPublicIpOnLaunch', true],
    ['AWS::EC2::Subnet', 'MapPublicIpOnLaunch', { Ref: 'Unknown' }],
    ['AWS::Events::Rule', 'Targets', [{ Arn: elsewhere }]],
    ['AWS::Events::Rule', 'Targets.0.Arn', apiDestination],
    ['AWS::Lambda::EventSourceMapping', 'EventSourceArn', elsewhere],
    ['AWS::Lambda::Function', 'VpcConfig.Ipv6AllowedForDualStack', true],
    ['AWS::RDS::DBCluster', 'SnapshotIdentifier', elsewhere],
    ['AWS::RDS::DBCluster', 'SourceDBClusterIdentifier', elsewhere],
    ['AWS::RDS::DBInstance', 'PubliclyAccessible', true],
    ['AWS::ApiGateway::RestApi', 'EndpointConfiguration.IpAddressType', 'dualstack'],
    ['AWS::SNS::Subscription', 'Protocol', 'https'],
    ['AWS::SNS::Subscription', 'Endpoint', elsewhere],
    ['AWS::SNS::Subscription', 'TopicArn', elsewhere],
    ['AWS::WAFv2::WebACL', 'Scope', 'CLOUDFRONT'],
  ])('%s, %s: %j', (type, path, given) => {
    const refused = refusals(only(type, propertiesWith(path, given)), twoRegions);
    expect(refused).toContain(`value-not-allowed: It, Properties.${path}`);
  });

  it('in a branch, or in place of a list', () => {
    const subnet = only('AWS::EC2::Subnet', { MapPublicIpOnLaunch: conditional(true, false) });
    expect(refusals(subnet)).toEqual(['value-not-allowed: It, Properties.MapPublicIpOnLaunch.Fn::If.1']);
    const group = only('AWS::EC2::SecurityGroup', { SecurityGroupEgress: { CidrIpv6: '::/0' } });
    expect(refusals(group)).toEqual(['value-not-allowed: It, Properties.SecurityGroupEgress.0.CidrIpv6']);
  });

  it.each<[type: string, path: string, allowed: string[]]>([
    ['AWS::EC2::Subnet', 'MapPublicIpOnLaunch', ['false', 'true']],
    ['AWS::Events::Rule', 'Targets.0.Arn', ['arn:aws:sqs:eu-central-1:1:q', apiDestination]],
  ])('%s, %s: a parameter that may be any of %j', (type, path, AllowedValues) => {
    const Parameters = { Any: { AllowedValues } };
    const refused = refusals(only(type, propertiesWith(path, { Ref: 'Any' })), oneRegion, { Parameters });
    expect(refused).toContain(`value-not-allowed: It, Properties.${path}`);
  });

  it.each([
    ['AWS::RDS::GlobalCluster', {}],
    ['AWS::RDS::DBCluster', { GlobalClusterIdentifier: 'wallet' }],
  ])('%s with the global database, in an environment with one region', (type, properties) => {
    const refused = ['value-not-allowed: It, Properties.GlobalClusterIdentifier'];
    expect(refusals(only(type, properties))).toEqual(refused);
    expect(refusals(only(type, properties), twoRegions)).toEqual([]);
  });
});

describe('refuses a region outside the list', () => {
  const AllowedValues = ['me-central-1', 'us-east-1'];
  it.each<[name: string, given: unknown, parameter?: object]>([
    ['an ARN of an unknown region', queueIn('eu-north-9')],
    ['an ARN of every region', queueIn('*')],
    ['a hostname', 'https://kms.us-east-1.amazonaws.com/'],
    ['an availability zone', 'us-east-1c'],
    ['a bucket that carries its region', 'cdk-hnb659fds-assets-123456789012-us-east-1'],
    ['another case', 'US-EAST-1'],
    ['a JSON text', JSON.stringify({ nested: JSON.stringify({ region: 'us-east-1' }) })],
    ['pieces within pieces', join('', 'arn:aws:sqs:us-', join('-', 'east', '1:x:queue'), join('x'))],
    [
      'pieces around a reference',
      join(':', 'arn', { Ref: 'AWS::Partition' }, 'sqs', 'eu-north-9', '1:queue'),
    ],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation's own placeholders
    ['a substitution', substitute('arn:aws:sqs:${Area}-1:${AWS::AccountId}:queue', { Area: 'us-east' })],
    ['a branch of a condition', join('-', 'us', conditional('gov', 'east'), '1')],
    ['an allowed value', { Ref: 'Where' }, { AllowedValues }],
    ['a free parameter', join('', 'arn:aws:sqs:', { Ref: 'Where' }, ':x:queue'), { Default: 'me-central-1' }],
  ])('%s', (...[, given, parameter]) => {
    const sections = { Parameters: { Where: parameter } };
    expect(refusals(value(given), oneRegion, sections)).toEqual(['foreign-region: It, Properties.Value']);
  });

  it('at any depth, in names of properties, environment variables and outputs', () => {
    const Statement = [{ Effect: 'Allow', Resource: queueIn('us-east-1') }];
    const Value = { A: [{ B: 'us-east-1' }], 'us-east-1': true, PolicyDocument: { Statement } };
    const Environment = { Variables: { BUCKET_DESCRIPTION: queueIn('us-east-1') } };
    const resources = { It: { Properties: { Value, Environment }, Type: 'AWS::SQS::Queue' } };
    const Outputs = { Copy: { Value: 'https://sqs.us-east-1.amazonaws.com/1/copy' } };
    expect(refusals(resources, oneRegion, { Outputs })).toEqual([
      'foreign-region: It, Properties.Value.A.0.B',
      'foreign-region: It, Properties.Value.us-east-1',
      'foreign-region: It, Properties.Value.PolicyDocument.Statement.0.Resource',
      'foreign-region: It, Properties.Environment.Variables.BUCKET_DESCRIPTION',
      'foreign-region: -, Outputs.Copy.Value',
    ]);
  });

  it.each<[name: string, properties: object, boundary?: ResidencyBoundary]>([
    ["the stack's own region", { Arn: queueIn('me-central-1'), Zone: 'ME-CENTRAL-1a' }],
    [
      'its reference',
      { Arn: join(':', 'arn', { Ref: 'AWS::Partition' }, 'sqs', { Ref: 'AWS::Region' }, '1:x') },
    ],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation's own placeholders
    ['its substitution', { Name: substitute('arn:aws:sqs:${AWS::Region}:1:x x') }],
    ["the environment's other region", { Arn: queueIn('eu-west-1') }, twoRegions],
    ['other words', { Values: ['bonus-east-1', 'eu-west-10', 'us-east', 'sub-central-1'] }],
    ['prose', { Description: 'Not us-east-1', Tags: [{ Key: 'compared-with', Value: 'us-east-1' }] }],
    ['a global service', { Role: 'arn:aws:iam::123456789012:role/other' }],
    ['a denial', { Statement: [{ Effect: 'Deny', Condition: { 'aws:RequestedRegion': 'us-east-1' } }] }],
  ])('but not %s', (...[, properties, boundary]) => {
    expect(refusals(only('AWS::SQS::Queue', properties), boundary)).toEqual([]);
  });
});

it.each<[location: string, resources: Resources, sections?: object]>([
  ['-, Transform', {}, { Transform: 'Company::Macro' }],
  ['-, Mappings', {}, { Mappings: { Map: { buckets: { copy: 'us-east-1' } } } }],
  ['-, Conditions.Is.Fn::FindInMap', {}, { Conditions: { Is: { 'Fn::FindInMap': ['a', 'b', 'c'] } } }],
  ['-, Outputs.Shared.Export', {}, { Outputs: { Shared: { Value: 'x', Export: { Name: 'shared' } } } }],
  ['It, Properties.Value.0.Fn::Transform', value([{ 'Fn::Transform': { Name: 'AWS::Include' } }])],
  ['-, Outputs.X.Value.Fn::ImportValue', {}, { Outputs: { X: { Value: { 'Fn::ImportValue': 'shared' } } } }],
])('refuses what the checks cannot read or what couples stacks: %s', (...[location, resources, sections]) => {
  expect(refusals(resources, oneRegion, sections)).toEqual([`unreadable: ${location}`]);
});

const serving = { ...oneRegion, natGateways: 1 } as const;

describe('the webhook origin', () => {
  const policies = '1, DeletionPolicy, UpdateReplacePolicy';
  const reserving = { ...serving, elasticIps: 2 } as const;
  const gateway = { Type: 'AWS::EC2::NatGateway', Properties: { AllocationId: 'eipalloc-1' } };
  const address = (DeletionPolicy = 'RetainExceptOnCreate', UpdateReplacePolicy = 'Retain') => ({
    Type: 'AWS::EC2::EIP',
    DeletionPolicy,
    UpdateReplacePolicy,
  });

  it.each<[name: string, boundary: ResidencyBoundary, resources: object[], locations?: string[]]>([
    ['needs a gateway', serving, [], ['-, Resources']],
    ['has no second gateway', reserving, [gateway, gateway], ['1, Type']],
    ['has no second address', serving, [gateway, address(), address()], ['2, Type']],
    ['has no third address', reserving, [gateway, address(), address(), address()], ['3, Type']],
    ['is not in a standby', oneRegion, [gateway, address()], ['0, Type', '1, Type']],
    ['outlives the stack', serving, [gateway, address('Delete')], [policies]],
    ['outlives its resource', serving, [gateway, address('Retain', 'RetainExceptOnCreate')], [policies]],
    ['may retain its address always', serving, [gateway, address('Retain')]],
    ['is released with a disposable stack', { ...serving, disposable: true }, [gateway, address('Delete')]],
    // No resource of the stack.
    ['may adopt its address', serving, [gateway]],
    ['may have a reserve', reserving, [gateway, address(), address()]],
  ])('%s', (...[, boundary, resources, locations = []]) => {
    const refused = refusals(Object.fromEntries(Object.entries(resources)), boundary);
    expect(refused).toEqual(locations.map((location) => `webhook-origin: ${location}`));
  });
});

it('a public subnet contains only the gateway', () => {
  const routed = (subnet: string, target: object) => ({
    [`${subnet}Route`]: {
      Type: 'AWS::EC2::Route',
      Properties: { RouteTableId: { Ref: `${subnet}Table` }, DestinationCidrBlock: '0.0.0.0/0', ...target },
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
    Three: functionIn(substitute('${Public.SubnetId}')),
    Host: { Type: 'AWS::EC2::Instance', Properties: { SubnetId: { Ref: 'Public' } } },
  };
  expect(refusals(resources, serving)).toEqual([
    'unreviewed: Host, Type',
    ...['One', 'Two', 'Three'].map((id) => `public-subnet: ${id}, Properties.VpcConfig`),
    'public-subnet: Host, Properties.SubnetId',
  ]);
});

describe('a policy for everybody', () => {
  const everybody = { Effect: 'Allow', Principal: '*', Action: '*' };
  const policy = (statement: object) =>
    only('AWS::SQS::QueuePolicy', { PolicyDocument: { Statement: [{ ...everybody, ...statement }] } });

  it.each<[name: string, statement: object]>([
    ['by its accounts', { Principal: { AWS: ['123456789012', '*'] } }],
    ['in a branch', { Principal: { AWS: conditional('123456789012', '*') } }],
    ['but one', { Principal: undefined, NotPrincipal: { AWS: '123456789012' } }],
    ['denied in one branch only', { Effect: conditional('Deny', 'Allow') }],
    ['with a condition', { Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } } }],
  ])('is refused: %s', (_, statement) => {
    expect(refusals(policy(statement))).toEqual(['public-policy: It, Properties.PolicyDocument.Statement.0']);
  });

  it.each<[location: string, resources: Resources]>([
    ['.PolicyDocument', only('AWS::SQS::QueuePolicy', { PolicyDocument: '{}' })],
    // As a permission of a function.
    ['', only('AWS::Lambda::Permission', { Principal: '*', SourceAccount: '123456789012' })],
    ['.KeyPolicy.Fn::If.2', only('AWS::KMS::Key', { KeyPolicy: conditional({ Statement: [] }, '{}') })],
  ])('is refused at Properties%s', (location, resources) => {
    expect(refusals(resources)).toEqual([`public-policy: It, Properties${location}`]);
  });

  it('is allowed in a denial, and on a VPC endpoint, where everybody means its network', () => {
    expect(refusals(policy({ Effect: 'Deny' }))).toEqual([]);
    expect(refusals(only('AWS::EC2::VPCEndpoint', { PolicyDocument: { Statement: everybody } }))).toEqual([]);
  });
});

it('a value that can become more than 1,000 texts is an error', () => {
  const choices = Array.from({ length: 10 }, () => conditional('a', 'b'));
  const topic = (pieces: readonly unknown[]) =>
    only('AWS::SNS::Topic', { TopicName: { 'Fn::Join': ['', pieces] } });
  expect(() => refusals(topic(choices))).toThrow('more than 1000 texts');
  expect(() => refusals(topic(choices.slice(1)))).not.toThrow();
});

describe('a CloudWatch dashboard, which is global', () => {
  const dashboard = (DashboardBody: string) => only('AWS::CloudWatch::Dashboard', { DashboardBody });
  const widget = (type: string, properties: object) => ({
    widgets: [{ type, properties: { region: 'me-central-1', ...properties } }],
  });
  const insight = { metrics: [[{ expression: "INSIGHT_RULE_METRIC('callers', 'Sum')" }]] };

  it.each<[location: string, body: unknown]>([
    ['.widgets.0.type', widget('log', { query: 'fields ip' })],
    ['.widgets.1.type', { widgets: ['text', 'custom'].map((type) => ({ type })) }],
    ['.widgets.0.properties.region', widget('metric', { region: undefined })],
    ['.widgets.0.properties.metrics.0.0.accountId', widget('metric', { metrics: [[{ accountId: '1' }]] })],
    ['.widgets.0.properties.insightRule', widget('metric', { insightRule: { ruleName: 'callers' } })],
    ['.widgets.0.properties.metrics.0.0.expression', widget('metric', insight)],
    ['.variables', { variables: [{ type: 'property' }], widgets: [] }],
    ['', 'widgets'],
  ])('is refused at DashboardBody%s', (location, body) => {
    expect(refusals(dashboard(JSON.stringify(body)))).toEqual([
      `cloudwatch-dashboard: It, Properties.DashboardBody${location}`,
    ]);
  });

  it("may show metrics of the environment's regions", () => {
    const body = JSON.stringify(widget('metric', { region: 'eu-west-1' }));
    expect(refusals(dashboard(body), twoRegions)).toEqual([]);
  });
});
