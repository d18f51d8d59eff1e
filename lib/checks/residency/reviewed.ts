import { isObject } from '../../../domain/strict-json';
import { staysInRegion } from './regions';
import { type BoundedTemplate, possibleTexts, type Rule, valuesAt } from './template';

/** Types in use that were reviewed: no property that these rules accept moves data out of the region, or lets anybody in. */
const reviewedTypes: Readonly<Record<string, string>> = {
  'AWS::ApiGateway': 'Account Authorizer BasePathMapping Deployment GatewayResponse Method Resource Stage',
  'AWS::Backup': 'BackupSelection RestoreTestingPlan',
  'AWS::CloudWatch': 'Alarm CompositeAlarm Dashboard',
  'AWS::EC2': 'InternetGateway RouteTable SubnetRouteTableAssociation',
  'AWS::IAM': 'Policy Role',
  'AWS::Lambda': 'Permission',
  'AWS::Logs': 'LogGroup MetricFilter',
  'AWS::RDS': 'DBClusterParameterGroup DBSubnetGroup',
  'AWS::SNS': 'TopicPolicy',
  'AWS::SQS': 'Queue QueuePolicy',
  'AWS::SecretsManager': 'SecretTargetAttachment',
  'AWS::WAFv2': 'LoggingConfiguration WebACLAssociation',
};

/** The other types in use, each with its reviewed properties. Those that depend on the value are in `allowed` or another rule. */
const reviewedProperties: Readonly<Record<string, string>> = {
  'AWS::ApiGateway::DomainName':
    'DomainName EndpointAccessMode EndpointConfiguration RegionalCertificateArn SecurityPolicy Tags',
  'AWS::ApiGateway::RestApi':
    'DisableExecuteApiEndpoint EndpointAccessMode EndpointConfiguration MinimumCompressionSize Name SecurityPolicy Tags',
  'AWS::Backup::BackupPlan': 'BackupPlan BackupPlanTags',
  // Vaults: no access policy, approval team, key or notifications.
  'AWS::Backup::BackupVault': 'BackupVaultName BackupVaultTags',
  'AWS::Backup::LogicallyAirGappedBackupVault':
    'BackupVaultName BackupVaultTags MaxRetentionDays MinRetentionDays',
  'AWS::Backup::RestoreTestingSelection': `IamRoleArn ProtectedResourceArns ProtectedResourceType
    RestoreMetadataOverrides RestoreTestingPlanName RestoreTestingSelectionName`,
  'AWS::EC2::EIP': 'Domain Tags',
  'AWS::EC2::FlowLog':
    'DeliverLogsPermissionArn LogDestinationType LogGroupName ResourceId ResourceType Tags TrafficType',
  'AWS::EC2::NatGateway': 'AllocationId SubnetId Tags',
  'AWS::EC2::Route': 'DestinationCidrBlock GatewayId NatGatewayId RouteTableId',
  'AWS::EC2::SecurityGroup': 'GroupDescription SecurityGroupEgress Tags VpcId',
  'AWS::EC2::SecurityGroupIngress': 'Description FromPort GroupId IpProtocol SourceSecurityGroupId ToPort',
  'AWS::EC2::Subnet': 'AvailabilityZone CidrBlock MapPublicIpOnLaunch Tags VpcId',
  'AWS::EC2::VPC': 'CidrBlock EnableDnsHostnames EnableDnsSupport InstanceTenancy Tags',
  'AWS::EC2::VPCEndpoint':
    'PolicyDocument PrivateDnsEnabled SecurityGroupIds ServiceName SubnetIds Tags VpcEndpointType VpcId',
  'AWS::EC2::VPCGatewayAttachment': 'InternetGatewayId VpcId',
  // Not `EventBusName`: a pattern is for the default bus, whose events are the account's own.
  'AWS::Events::Rule': 'Description EventPattern ScheduleExpression State Tags Targets',
  'AWS::KMS::Key':
    'Description EnableKeyRotation KeyPolicy KeySpec KeyUsage MultiRegion PendingWindowInDays Tags',
  'AWS::KMS::ReplicaKey': 'Description KeyPolicy PendingWindowInDays PrimaryKeyArn Tags',
  'AWS::Lambda::EventSourceMapping':
    'BatchSize Enabled EventSourceArn FunctionName FunctionResponseTypes ScalingConfig Tags',
  'AWS::Lambda::Function':
    'Architectures Code Description Environment Handler LoggingConfig MemorySize Role Runtime Tags Timeout VpcConfig',
  'AWS::RDS::DBCluster': `BackupRetentionPeriod CopyTagsToSnapshot DBClusterIdentifier DBClusterParameterGroupName
    DBSubnetGroupName DatabaseName DeletionProtection EnableCloudwatchLogsExports EnableGlobalWriteForwarding
    EnableHttpEndpoint EnableIAMDatabaseAuthentication Engine EngineVersion GlobalClusterIdentifier KmsKeyId
    MasterUserPassword MasterUsername PerformanceInsightsEnabled PerformanceInsightsKmsKeyId
    PerformanceInsightsRetentionPeriod Port RestoreToTime ServerlessV2ScalingConfiguration SnapshotIdentifier
    SourceDBClusterIdentifier StorageEncrypted Tags VpcSecurityGroupIds`,
  'AWS::RDS::DBInstance': `AutoMinorVersionUpgrade AvailabilityZone DBClusterIdentifier DBInstanceClass
    EnablePerformanceInsights Engine PerformanceInsightsKMSKeyId PerformanceInsightsRetentionPeriod PromotionTier
    PubliclyAccessible Tags`,
  'AWS::RDS::GlobalCluster': 'DeletionProtection GlobalClusterIdentifier SourceDBClusterIdentifier Tags',
  'AWS::SNS::Subscription': 'Endpoint Protocol TopicArn',
  'AWS::SNS::Topic': 'DisplayName KmsMasterKeyId Tags',
  'AWS::SecretsManager::Secret': 'Description GenerateSecretString KmsKeyId Tags',
  'AWS::WAFv2::IPSet': 'Addresses IPAddressVersion Scope Tags',
  'AWS::WAFv2::WebACL': 'DataProtectionConfig DefaultAction Rules Scope Tags VisibilityConfig',
  // Their code is in this repository, or the CDK's and reviewed.
  'Custom::SchemaMigration': 'ContentHash ServiceTimeout ServiceToken',
  'Custom::SigningKeySet': 'Keys ServiceTimeout ServiceToken',
  'Custom::VpcRestrictDefaultSG': 'Account DefaultSecurityGroupId ServiceToken',
};

/** The types, and `Type.Property` of the properties. */
export const reviewed: readonly string[] = [
  ...Object.entries(reviewedTypes).flatMap(([service, names]) =>
    names.split(' ').map((name) => `${service}::${name}`),
  ),
  ...Object.entries(reviewedProperties).flatMap(([type, names]) =>
    names.split(/\s+/).map((name) => `${type}.${name}`),
  ),
];

export const unreviewed: Rule = {
  id: 'unreviewed',
  refuses: 'A resource type, or a property of it, that was not reviewed',
  remedy:
    'Find out how it could take data out of its region or open an entrance. If some values could, add them to `allowedValues`; then add type and property to lib/checks/residency/reviewed.ts.',
  *find({ boundary, resources }) {
    for (const { logicalId, Type: type, properties } of resources) {
      if (boundary.globalTypes?.includes(type)) continue;
      const [service = '', name = ''] = type.split(/::(?=\w+$)/);
      if (reviewedTypes[service]?.split(' ').includes(name)) continue;
      const known = reviewedProperties[type]?.split(/\s+/);
      if (!known) yield { logicalId, location: 'Type', value: type };
      for (const [property, value] of Object.entries(known ? properties : {})) {
        if (!known?.includes(property)) yield { logicalId, location: `Properties.${property}`, value };
      }
    }
  },
};

type Accepts = (value: unknown, template: BoundedTemplate) => boolean;

/** The text of a missing value. */
const absent = '';
const isOneOf =
  (...allowed: readonly string[]): Accepts =>
  (value, template) =>
    possibleTexts(value, template).every((text) => allowed.includes(text));
const isOff = isOneOf(absent, 'false');
/** No others, and all of `required`. */
const hasOnly =
  (names: string, required = ''): Accepts =>
  (value) =>
    isObject(value) &&
    Object.keys(value).every((name) => names.split(' ').includes(name)) &&
    required.split(' ').every((name) => name === '' || name in value);
/** Allows a global database: each member is in its own stack, whose region is checked, as is the primary's ARN. */
const hasSeveralRegions: Accepts = (_, { boundary }) => boundary.residencyRegions.length > 1;

/** API Gateway's default, an edge-optimized endpoint, routes requests through CloudFront, worldwide. */
const regionalEndpoint: Readonly<Record<string, Accepts>> = {
  'EndpointConfiguration.Types': (value, template) =>
    Array.isArray(value) && value.length > 0 && value.every((type) => isOneOf('REGIONAL')(type, template)),
  // IPv6 has no NAT and no allow-list: everything is IPv4.
  'EndpointConfiguration.IpAddressType': isOneOf(absent, 'ipv4'),
};

/** Conditions keyed by type and property path; `*` stands for each item of a list. */
const allowed: Readonly<Record<string, Readonly<Record<string, Accepts>>>> = {
  'AWS::ApiGateway::DomainName': regionalEndpoint,
  // `HTTP` and `HTTP_PROXY` send requests anywhere.
  'AWS::ApiGateway::Method': { 'Integration.Type': isOneOf(absent, 'AWS', 'AWS_PROXY', 'MOCK') },
  'AWS::ApiGateway::RestApi': regionalEndpoint,
  // Not `CopyActions`, which copy backups anywhere.
  'AWS::Backup::BackupPlan': {
    BackupPlan: hasOnly('BackupPlanName BackupPlanRule'),
    'BackupPlan.BackupPlanRule.*': hasOnly(
      'Lifecycle RuleName ScheduleExpression StartWindowMinutes TargetBackupVault TargetLogicallyAirGappedBackupVaultArn',
    ),
    // A vault of the stack. AWS accepts one of the same account and region only.
    'BackupPlan.BackupPlanRule.*.TargetLogicallyAirGappedBackupVaultArn': (value, template) =>
      possibleTexts(value, template).every((text) => /^(‹\w+\.BackupVaultArn›)?$/.test(text)),
  },
  // The default is the default VPC, which has public subnets.
  'AWS::Backup::RestoreTestingSelection': {
    RestoreMetadataOverrides: hasOnly(
      'dbSubnetGroupName kmsKeyId vpcSecurityGroupIds',
      'dbSubnetGroupName vpcSecurityGroupIds',
    ),
  },
  'AWS::EC2::Route': { DestinationCidrBlock: isOneOf('0.0.0.0/0') },
  'AWS::EC2::SecurityGroup': { 'SecurityGroupEgress.*.CidrIpv6': isOneOf(absent) },
  'AWS::EC2::Subnet': { MapPublicIpOnLaunch: isOff },
  'AWS::Events::Rule': {
    Targets: staysInRegion,
    // Sends events anywhere: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-api-destinations.html
    'Targets.*.Arn': (value, template) =>
      possibleTexts(value, template).every((text) => !text.includes(':api-destination/')),
  },
  // Replicas are in stacks of their own, whose region is checked.
  'AWS::KMS::Key': {
    MultiRegion: (value, template) => template.boundary.multiRegionKeys || isOff(value, template),
  },
  'AWS::KMS::ReplicaKey': {
    PrimaryKeyArn: (value, { boundary }) =>
      boundary.multiRegionKeys === true &&
      boundary.residencyRegions.some((region) => String(value).startsWith(`arn:aws:kms:${region}:`)),
  },
  'AWS::Lambda::EventSourceMapping': { EventSourceArn: staysInRegion },
  'AWS::Lambda::Function': { 'VpcConfig.Ipv6AllowedForDualStack': isOff },
  'AWS::RDS::DBCluster': {
    GlobalClusterIdentifier: (value, template) => value === undefined || hasSeveralRegions(value, template),
    SnapshotIdentifier: staysInRegion,
    SourceDBClusterIdentifier: staysInRegion,
  },
  'AWS::RDS::DBInstance': { PubliclyAccessible: isOff },
  'AWS::RDS::GlobalCluster': { GlobalClusterIdentifier: hasSeveralRegions },
  'AWS::SNS::Subscription': {
    // https://docs.aws.amazon.com/sns/latest/api/API_Subscribe.html
    Protocol: isOneOf('email', 'lambda', 'sqs'),
    Endpoint: staysInRegion,
    TopicArn: staysInRegion,
  },
  'AWS::WAFv2::IPSet': { Scope: isOneOf('REGIONAL') },
  'AWS::WAFv2::WebACL': { Scope: isOneOf('REGIONAL') },
};

export const allowedValues: Rule = {
  id: 'value-not-allowed',
  refuses: 'A value that takes data out of the region, or lets the internet in',
  remedy:
    'Stay in the region, on IPv4 and behind the API: lib/checks/residency/reviewed.ts has the allowed values.',
  *find(template) {
    for (const resource of template.resources) {
      for (const [path, accepts] of Object.entries(allowed[resource.Type] ?? {})) {
        yield* valuesAt(resource.root, path).filter(({ value }) => !accepts(value, template));
      }
    }
  },
};
