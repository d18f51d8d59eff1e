import type { TemplateResource } from '../../../domain/assembly';
import { boundariesOf, findingsIn } from '../../../lib/checks/residency/plugin';
import type { ResidencyBoundary } from '../../../lib/checks/residency/template';
import { withStandby } from '../../support/rows';
import { stackOf } from '../../support/stacks';

/** The network of a real stack, in the first of its environment's two regions. */
const stack = stackOf(withStandby);
const network = Object.fromEntries(
  stack.resources
    .filter(({ Type }) => /^AWS::(EC2::(EIP|NatGateway|Route|Subnet\w*)|RDS::GlobalCluster)$/.test(Type))
    .map((resource) => [resource.logicalId, resource]),
);
const [boundary, inStandby] = boundariesOf([withStandby]) as [ResidencyBoundary, ResidencyBoundary];
const { region, standby } = withStandby;

const Parameters = {
  Flag: { AllowedValues: ['false', 'true'] },
  Where: { AllowedValues: [region, 'us-east-1'] },
  Free: { Default: region },
};

/** What the rules find if a resource or a section is added, each as `rule: resource, location`. */
const refusals = (It?: TemplateResource, sections = {}, within = boundary) =>
  findingsIn({ Parameters, Resources: { ...network, ...(It && { It }) }, ...sections }, within).map(
    ({ rule, finding: { logicalId = '-', location } }) => `${rule.id}: ${logicalId}, ${location}`,
  );

const conditional = (branch: unknown, other: unknown) => ({ 'Fn::If': ['Anything', branch, other] });
const join = (separator: string, ...pieces: unknown[]) => ({ 'Fn::Join': [separator, pieces] });
const queueIn = (region: string) => `arn:aws:sqs:${region}:1:queue`;
const elsewhere = queueIn(standby.region);
const vaultArn = 'TargetLogicallyAirGappedBackupVaultArn';
const placed = { dbSubnetGroupName: 'x', vpcSecurityGroupIds: 'x' };
const allowed = { Effect: 'Allow', Action: '*', Principal: '*' };
const widget = (type: string, properties: object) =>
  JSON.stringify({ widgets: [{ type, properties: { region, ...properties } }] });
const insight = { metrics: [[{ expression: "INSIGHT_RULE_METRIC('callers', 'Sum')" }]] };
const [publicSubnet] = stack.all('AWS::EC2::Subnet').filter(({ logicalId }) => /Public/.test(logicalId));
const Ref = publicSubnet?.logicalId;
const isFrom = { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } };

type Refused = readonly [type: string, path: string, value: unknown, within?: string];
const refused: Readonly<Record<string, readonly Refused[]>> = {
  // A property that nobody reviewed: another way out of the region, or into it.
  unreviewed: [
    ['Backup::LogicallyAirGappedBackupVault', 'AccessPolicy', 'x'],
    ['Lambda::Function', 'Layers', 'x'],
    ['Events::Rule', 'EventBusName', 'default'],
  ],
  // A value that sends data out of the region, or allows access from the internet.
  'value-not-allowed': [
    ['ApiGateway::DomainName', 'EndpointConfiguration.Types', ['REGIONAL', 'EDGE']],
    ['ApiGateway::RestApi', 'EndpointConfiguration.Types', undefined],
    ['ApiGateway::RestApi', 'EndpointConfiguration.Types', []],
    ['ApiGateway::RestApi', 'EndpointConfiguration.IpAddressType', 'dualstack'],
    ['ApiGateway::Method', 'Integration.Type', 'HTTP_PROXY'],
    ['Backup::BackupPlan', 'BackupPlan.BackupPlanRule.0', { CopyActions: [] }],
    ['Backup::BackupPlan', `BackupPlan.BackupPlanRule.0.${vaultArn}`, 'theirs'],
    ['Backup::BackupPlan', 'BackupPlan', { ScanSettings: [] }],
    ['Backup::RestoreTestingSelection', 'RestoreMetadataOverrides', { dbSubnetGroupName: 'x' }],
    ['Backup::RestoreTestingSelection', 'RestoreMetadataOverrides', { ...placed, port: '1' }],
    ['EC2::Route', 'DestinationCidrBlock', '10.99.0.0/16'],
    ['EC2::SecurityGroup', 'SecurityGroupEgress', { CidrIpv6: '::/0' }, '.0.CidrIpv6'],
    ['EC2::Subnet', 'MapPublicIpOnLaunch', { Ref: 'Unknown' }],
    ['EC2::Subnet', 'MapPublicIpOnLaunch', { Ref: 'Flag' }],
    ['EC2::Subnet', 'MapPublicIpOnLaunch', conditional(true, false), '.Fn::If.1'],
    ['Events::Rule', 'Targets', [{ Arn: elsewhere }]],
    ['Events::Rule', 'Targets.0.Arn', 'arn:aws:events:x:1:api-destination/x/1'],
    ['KMS::ReplicaKey', 'PrimaryKeyArn', 'arn:aws:kms:us-east-1:1:key/mrk-1'],
    ['KMS::ReplicaKey', 'PrimaryKeyArn', { Ref: 'Free' }],
    ['Lambda::EventSourceMapping', 'EventSourceArn', elsewhere],
    ['Lambda::Function', 'VpcConfig.Ipv6AllowedForDualStack', true],
    ['RDS::DBCluster', 'SnapshotIdentifier', elsewhere],
    ['RDS::DBCluster', 'SourceDBClusterIdentifier', elsewhere],
    ['RDS::DBInstance', 'PubliclyAccessible', true],
    ['SNS::Subscription', 'Protocol', 'https'],
    ['SNS::Subscription', 'Endpoint', elsewhere],
    ['SNS::Subscription', 'TopicArn', elsewhere],
    ['WAFv2::IPSet', 'Scope', 'CLOUDFRONT'],
    ['WAFv2::WebACL', 'Scope', 'CLOUDFRONT'],
  ],
  'foreign-region': [
    ...[
      queueIn('eu-north-9'),
      'https://kms.us-east-1.amazonaws.com/',
      'us-east-1c',
      'cdk-hnb659fds-assets-123456789012-us-east-1',
      '{"nested":"{\\"region\\":\\"us-east-1\\"}"}',
      join('', 'sqs.us-', join('-', 'east', '1:x'), join('x')),
      join(':', 'arn', { Ref: 'AWS::Partition' }, 'sqs', '*', '1:x'),
      { 'Fn::Sub': [`sqs.\${Area}-1`, { Area: 'us-east' }] },
      join('-', 'us', conditional('gov', 'east'), '1'),
      { Ref: 'Where' },
      join('', 'arn:aws:sqs:', { Ref: 'Free' }, ':x:queue'),
    ].map((value): Refused => ['SQS::Queue', 'Value', value]),
    ['SQS::Queue', 'Value.A.0.B', 'us-east-1'],
    ['SQS::Queue', 'Value', { 'us-east-1': true }, '.us-east-1'],
    ['Events::Rule', 'EventPattern.region', ['us-east-1'], '.0'],
    ['Lambda::Function', 'Environment.Variables.BUCKET_DESCRIPTION', 'us-east-1'],
    ['IAM::Policy', 'PolicyDocument.Statement.0', { Resource: 'us-east-1' }, '.Resource'],
  ],
  unreadable: [['SQS::Queue', 'Value.0', { 'Fn::Transform': {} }, '.Fn::Transform']],
  'public-subnet': [
    ['Lambda::Function', 'VpcConfig', { SubnetIds: [{ Ref: 'Private' }, { Ref }] }],
    ['EC2::Instance', 'SubnetId', { 'Fn::GetAtt': [Ref, 'SubnetId'] }],
  ],
  'public-policy': [
    ['SQS::QueuePolicy', 'P.Statement.0', { ...allowed, Principal: { AWS: ['1', '*'] } }],
    ['SQS::QueuePolicy', 'P.Statement.0', { ...allowed, Principal: conditional('1', '*') }],
    ['SQS::QueuePolicy', 'P.Statement.0', { Effect: 'Allow', NotPrincipal: { AWS: '1' } }],
    ['SQS::QueuePolicy', 'P.0', { ...allowed, Effect: conditional('Deny', 'Allow') }],
    ['SQS::QueuePolicy', 'P.0', { ...allowed, Condition: isFrom }],
    ['SQS::QueuePolicy', 'PolicyDocument', '{}'],
    ['KMS::Key', 'KeyPolicy', conditional({ Statement: [] }, '{}'), '.Fn::If.2'],
  ],
};

const all = Object.entries(refused).flatMap(([rule, rows]) =>
  rows.map((row): [string, ...Refused] => [rule, ...row]),
);
it.each(all)('%s: %s, %s: %j', (rule, type, path, given, within = '') => {
  const Properties = path
    .split('.')
    .reduceRight((inner, name) => (name === '0' ? [inner] : { [name]: inner }), given);
  const found = refusals({ Type: `AWS::${type}`, Properties: Object(Properties) });
  expect(found).toContain(`${rule}: It, Properties.${path}${within}`);
});

it.each<[location: string, body: string]>([
  ['.widgets.0.type', widget('log', { query: 'fields ip' })],
  ['.widgets.0.type', widget('custom', {})],
  ['.widgets.0.properties.region', widget('metric', { region: undefined })],
  ['.widgets.0.properties.metrics.0.0.accountId', widget('metric', { metrics: [[{ accountId: '1' }]] })],
  ['.widgets.0.properties.insightRule', widget('metric', { insightRule: { ruleName: 'callers' } })],
  ['.widgets.0.properties.metrics.0.0.expression', widget('metric', insight)],
  ['.variables', '{"variables":[],"widgets":[]}'],
  ['', 'widgets'],
])('a CloudWatch dashboard, which is global, is refused at DashboardBody%s', (location, DashboardBody) => {
  expect(refusals({ Type: 'AWS::CloudWatch::Dashboard', Properties: { DashboardBody } })).toEqual([
    `cloudwatch-dashboard: It, Properties.DashboardBody${location}`,
  ]);
});

const address = { Type: 'AWS::EC2::EIP', DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };
const policies = 'webhook-origin: It, DeletionPolicy, UpdateReplacePolicy';
const output = (X: unknown) => ({ Outputs: { X } });
const alone = { ...boundary, residencyRegions: [region] };
const singleRegion = { ...inStandby, multiRegionKeys: false };
const PrimaryKeyArn = `arn:aws:kms:${region}:1:key/mrk-1`;
const replica = { Type: 'AWS::KMS::ReplicaKey', Properties: { PrimaryKeyArn } };
const key = { Type: 'AWS::KMS::Key', Properties: { MultiRegion: true } };

it.each<[finding: string, It: TemplateResource | undefined, sections?: object, within?: ResidencyBoundary]>([
  ['unreviewed: It, Type', { Type: 'AWS::S3::Bucket' }],
  ['unreadable: It, Type', { Type: 'Company::Network::Vpc::MODULE' }],
  ['unreadable: It, Type', { Type: 'AWS::CloudFormation::Stack' }],
  ['public-policy: It, Properties', { Type: 'AWS::Lambda::Permission', Properties: { Principal: '*' } }],
  ['value-not-allowed: DatabaseGlobalCluster, Properties.GlobalClusterIdentifier', undefined, {}, alone],
  ['value-not-allowed: It, Properties.MultiRegion', key, {}, singleRegion],
  ['value-not-allowed: It, Properties.PrimaryKeyArn', replica, {}, singleRegion],

  // What the checks cannot read, and what couples stacks.
  ['unreadable: -, Transform', undefined, { Transform: 'Company::Macro' }],
  ['unreadable: -, Mappings', undefined, { Mappings: { Map: { buckets: { copy: 'us-east-1' } } } }],
  ['unreadable: -, Conditions.Is.Fn::FindInMap', undefined, { Conditions: { Is: { 'Fn::FindInMap': [] } } }],
  ['unreadable: -, Outputs.X.Export', undefined, output({ Export: { Name: 'shared' } })],
  ['unreadable: -, Outputs.X.Fn::ImportValue', undefined, output({ 'Fn::ImportValue': 'shared' })],
  ['foreign-region: -, Outputs.X', undefined, output('https://sqs.us-east-1.amazonaws.com')],

  // One gateway, none in a standby, with the addresses of the row, which outlive the stack and their resource.
  ['webhook-origin: -, Resources', undefined, { Resources: {} }],
  ['webhook-origin: It, Type', { Type: 'AWS::EC2::NatGateway' }],
  ['webhook-origin: It, Type', address],
  ['webhook-origin: WebhookOriginElasticIp, Type', undefined, {}, inStandby],
  [policies, { ...address, DeletionPolicy: 'Delete' }],
  [policies, { ...address, UpdateReplacePolicy: 'RetainExceptOnCreate' }],
])('%s: %j', (...[finding, It, sections, within]) => {
  expect(refusals(It, sections, within)).toContain(finding);
});

it('finds nothing in the network itself, nor in the replica of a key in a region of a row with multi-Region keys', () => {
  expect([refusals(), findingsIn({ Resources: { It: replica } }, inStandby)]).toEqual([[], []]);
});

it('a value that can become more than 1,000 texts is an error', () => {
  const choices = Array.from({ length: 10 }, () => conditional('a', 'b'));
  const read = (pieces: readonly unknown[]) => () => refusals(undefined, output(join('', ...pieces)));
  expect(read(choices)).toThrow('more than 1000 texts');
  expect(read(choices.slice(1))).not.toThrow();
});
