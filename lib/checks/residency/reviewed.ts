import { staysInRegion } from './regions';
import { possibleTexts, type Rule, rootOf, type Template, valuesAt } from './template';

/**
 * The resource types in use, each with its reviewed properties: none moves data out of its region or allows
 * access, except with a value that `allowedValues` or another rule checks. `*`: no property of the type can.
 */
const reviewed: Readonly<Record<string, string>> = {
  'AWS::ApiGateway::Account': '*',
  'AWS::ApiGateway::Authorizer': '*',
  'AWS::ApiGateway::BasePathMapping': '*',
  'AWS::ApiGateway::Deployment': '*',
  'AWS::ApiGateway::DomainName':
    'DomainName EndpointAccessMode EndpointConfiguration RegionalCertificateArn SecurityPolicy Tags',
  'AWS::ApiGateway::GatewayResponse': '*',
  'AWS::ApiGateway::Method': '*',
  'AWS::ApiGateway::Resource': '*',
  'AWS::ApiGateway::RestApi':
    'DisableExecuteApiEndpoint EndpointAccessMode EndpointConfiguration MinimumCompressionSize Name SecurityPolicy Tags',
  'AWS::ApiGateway::Stage': '*',
  'AWS::CertificateManager::Certificate': '*',
  'AWS::CloudWatch::Alarm': '*',
  'AWS::CloudWatch::Dashboard': '*',
  'AWS::EC2::EIP': 'Domain PublicIpv4Pool Tags',
  'AWS::EC2::FlowLog':
    'DeliverLogsPermissionArn LogDestinationType LogGroupName ResourceId ResourceType Tags TrafficType',
  'AWS::EC2::InternetGateway': '*',
  'AWS::EC2::NatGateway': 'AllocationId SubnetId Tags',
  'AWS::EC2::Route': 'DestinationCidrBlock GatewayId NatGatewayId RouteTableId',
  'AWS::EC2::RouteTable': '*',
  'AWS::EC2::SecurityGroup': 'GroupDescription SecurityGroupEgress Tags VpcId',
  'AWS::EC2::SecurityGroupIngress': 'Description FromPort GroupId IpProtocol SourceSecurityGroupId ToPort',
  'AWS::EC2::Subnet': 'AvailabilityZone CidrBlock MapPublicIpOnLaunch Tags VpcId',
  'AWS::EC2::SubnetRouteTableAssociation': '*',
  'AWS::EC2::VPC': 'CidrBlock EnableDnsHostnames EnableDnsSupport InstanceTenancy Tags',
  'AWS::EC2::VPCEndpoint':
    'PolicyDocument PrivateDnsEnabled SecurityGroupIds ServiceName SubnetIds Tags VpcEndpointType VpcId',
  'AWS::EC2::VPCGatewayAttachment': 'InternetGatewayId VpcId',
  'AWS::Events::Rule': 'Description ScheduleExpression State Tags Targets',
  'AWS::IAM::Policy': '*',
  'AWS::IAM::Role': '*',
  'AWS::KMS::Key': 'Description EnableKeyRotation KeyPolicy KeySpec KeyUsage PendingWindowInDays Tags',
  'AWS::Lambda::EventSourceMapping':
    'BatchSize Enabled EventSourceArn FunctionName FunctionResponseTypes ScalingConfig Tags',
  'AWS::Lambda::Function':
    'Architectures Code Description Environment Handler LoggingConfig MemorySize Role Runtime Tags Timeout VpcConfig',
  'AWS::Lambda::Permission': '*',
  'AWS::Logs::LogGroup': '*',
  'AWS::Logs::MetricFilter': '*',
  'AWS::RDS::DBCluster': `BackupRetentionPeriod CopyTagsToSnapshot DBClusterIdentifier DBClusterParameterGroupName
    DBSubnetGroupName DatabaseName DeletionProtection EnableCloudwatchLogsExports EnableGlobalWriteForwarding
    EnableHttpEndpoint EnableIAMDatabaseAuthentication Engine EngineVersion GlobalClusterIdentifier KmsKeyId
    MasterUserPassword MasterUsername PerformanceInsightsEnabled PerformanceInsightsKmsKeyId
    PerformanceInsightsRetentionPeriod Port RestoreToTime ServerlessV2ScalingConfiguration SnapshotIdentifier
    SourceDBClusterIdentifier StorageEncrypted Tags VpcSecurityGroupIds`,
  'AWS::RDS::DBClusterParameterGroup': '*',
  'AWS::RDS::DBInstance': `AutoMinorVersionUpgrade AvailabilityZone DBClusterIdentifier DBInstanceClass
    EnablePerformanceInsights Engine PerformanceInsightsKMSKeyId PerformanceInsightsRetentionPeriod PromotionTier
    PubliclyAccessible Tags`,
  'AWS::RDS::DBSubnetGroup': '*',
  'AWS::RDS::GlobalCluster': 'DeletionProtection GlobalClusterIdentifier SourceDBClusterIdentifier Tags',
  'AWS::Route53::RecordSet': 'AliasTarget HostedZoneId Name Type',
  'AWS::SNS::Subscription': 'Endpoint Protocol TopicArn',
  'AWS::SNS::Topic': 'DisplayName KmsMasterKeyId Tags',
  'AWS::SNS::TopicPolicy': '*',
  'AWS::SQS::Queue': '*',
  'AWS::SQS::QueuePolicy': '*',
  'AWS::SecretsManager::Secret': 'Description GenerateSecretString KmsKeyId Tags',
  'AWS::SecretsManager::SecretTargetAttachment': '*',
  'AWS::WAFv2::LoggingConfiguration': '*',
  'AWS::WAFv2::WebACL': 'DataProtectionConfig DefaultAction Rules Scope Tags VisibilityConfig',
  'AWS::WAFv2::WebACLAssociation': '*',
  // Their code is in this repository, or the CDK's and reviewed.
  'Custom::SchemaMigration': 'ContentHash ServiceTimeout ServiceToken',
  'Custom::SigningKeySet': 'Keys ServiceTimeout ServiceToken',
  'Custom::VpcRestrictDefaultSG': 'Account DefaultSecurityGroupId ServiceToken',
};

export const unreviewed: Rule = {
  id: 'unreviewed',
  refuses: 'A resource type, or a property of it, that was not reviewed',
  remedy:
    'Find out how it could take data out of its region or open an entrance. If some values could, add them to `allowedValues`; then add type and property to lib/checks/residency/reviewed.ts.',
  *find({ boundary, resources }) {
    for (const { logicalId, type, properties } of resources) {
      if (boundary.globalTypes?.includes(type)) continue;
      const known = reviewed[type];
      if (known === undefined) yield { logicalId, location: 'Type', value: type };
      if (known === undefined || known === '*') continue;
      const names = known.split(/\s+/);
      for (const [name, value] of Object.entries(properties)) {
        if (!names.includes(name)) yield { logicalId, location: `Properties.${name}`, value };
      }
    }
  },
};

type Accepts = (value: unknown, template: Template) => boolean;

const isOneOf =
  (...allowed: readonly string[]): Accepts =>
  (value, template) =>
    value !== undefined && possibleTexts(value, template).every((text) => allowed.includes(text));
const isAbsent: Accepts = (value) => value === undefined;
const isAbsentOr =
  (accepts: Accepts): Accepts =>
  (value, template) =>
    value === undefined || accepts(value, template);
const isOff = isAbsentOr(isOneOf('false'));

/** API Gateway's default, an edge-optimized endpoint, routes requests through CloudFront, worldwide. */
const regionalEndpoint: Readonly<Record<string, Accepts>> = {
  'EndpointConfiguration.Types': (value, template) =>
    Array.isArray(value) && value.length > 0 && value.every((type) => isOneOf('REGIONAL')(type, template)),
  // IPv6 has no NAT and no allow-list: everything is IPv4.
  'EndpointConfiguration.IpAddressType': isAbsentOr(isOneOf('ipv4')),
};

/** By type and property path; `*` is each item of a list. */
const allowed: Readonly<Record<string, Readonly<Record<string, Accepts>>>> = {
  'AWS::ApiGateway::DomainName': regionalEndpoint,
  // `HTTP` and `HTTP_PROXY` send requests anywhere.
  'AWS::ApiGateway::Method': { 'Integration.Type': isAbsentOr(isOneOf('AWS', 'AWS_PROXY', 'MOCK')) },
  'AWS::ApiGateway::RestApi': regionalEndpoint,
  'AWS::EC2::Route': { DestinationCidrBlock: isOneOf('0.0.0.0/0') },
  'AWS::EC2::SecurityGroup': { 'SecurityGroupEgress.*.CidrIpv6': isAbsent },
  'AWS::EC2::Subnet': { MapPublicIpOnLaunch: isOff },
  'AWS::Events::Rule': {
    Targets: staysInRegion,
    // Sends events anywhere: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-api-destinations.html
    'Targets.*.Arn': (value, template) =>
      possibleTexts(value, template).every((text) => !text.includes(':api-destination/')),
  },
  'AWS::Lambda::EventSourceMapping': { EventSourceArn: staysInRegion },
  'AWS::Lambda::Function': { 'VpcConfig.Ipv6AllowedForDualStack': isOff },
  'AWS::RDS::DBCluster': { SnapshotIdentifier: staysInRegion, SourceDBClusterIdentifier: staysInRegion },
  'AWS::RDS::DBInstance': { PubliclyAccessible: isOff },
  'AWS::SNS::Subscription': {
    // https://docs.aws.amazon.com/sns/latest/api/API_Subscribe.html
    Protocol: isOneOf('email', 'lambda', 'sqs'),
    Endpoint: staysInRegion,
    TopicArn: staysInRegion,
  },
  'AWS::WAFv2::WebACL': { Scope: isOneOf('REGIONAL') },
};

export const allowedValues: Rule = {
  id: 'value-not-allowed',
  refuses: 'A value that takes data out of the region, or lets the internet in',
  remedy:
    'Stay in the region, on IPv4 and behind the API: lib/checks/residency/reviewed.ts has the allowed values.',
  *find(template) {
    for (const resource of template.resources) {
      for (const [path, accepts] of Object.entries(allowed[resource.type] ?? {})) {
        for (const found of valuesAt(rootOf(resource), path)) {
          if (!accepts(found.value, template)) yield { ...found, logicalId: resource.logicalId };
        }
      }
    }
  },
};
