import { findingOf, type Rule } from '../rule';

/**
 * Resource types that were reviewed: none takes data out of its region or opens an entrance, except by a property that
 * another rule reads. A type that is not listed may do either in a way that no rule knows.
 */
const reviewed = new Set(
  Object.entries({
    ApiGateway:
      'Account Authorizer BasePathMapping Deployment DomainName GatewayResponse Method Resource RestApi Stage',
    AppRunner: 'Service',
    Backup: 'BackupPlan BackupVault',
    Cassandra: 'Keyspace',
    CertificateManager: 'Certificate',
    CloudFormation: 'Stack',
    CloudTrail: 'Trail',
    CloudWatch: 'Alarm Dashboard',
    DynamoDB: 'GlobalTable Table',
    EC2: `EIP FlowLog InternetGateway NatGateway NetworkAcl NetworkAclEntry Route RouteTable SecurityGroup
      SecurityGroupEgress SecurityGroupIngress Subnet SubnetNetworkAclAssociation SubnetRouteTableAssociation VPC
      VPCEndpoint VPCGatewayAttachment`,
    EFS: 'FileSystem',
    ElastiCache: 'ReplicationGroup',
    ElasticLoadBalancingV2: 'LoadBalancer',
    Events: 'Rule',
    IAM: 'Policy Role',
    KMS: 'Key',
    Lambda: 'EventSourceMapping Function Permission Url',
    Logs: 'LogGroup MetricFilter SubscriptionFilter',
    RDS: 'DBCluster DBClusterParameterGroup DBInstance DBSubnetGroup GlobalCluster',
    Route53: 'HealthCheck HostedZone RecordSet',
    S3: 'Bucket BucketPolicy',
    SNS: 'Subscription Topic TopicPolicy',
    SQS: 'Queue QueuePolicy',
    SecretsManager: 'Secret SecretTargetAttachment',
    WAFv2: 'LoggingConfiguration WebACL WebACLAssociation',
  }).flatMap(([service, names]) => names.split(/\s+/).map((name) => `AWS::${service}::${name}`)),
);

/** Custom resources: people review the code behind them. */
const isCustom = (type: string) => /^(Custom::|AWS::CloudFormation::CustomResource$)/.test(type);

/** Resource types that were not reviewed. */
export const unknownType: Rule = {
  id: 'unknown-type',
  refuses: 'A resource type that was not reviewed',
  remedy:
    'Find out how it could take data out of its region or open an entrance, write a rule for that, then add the type to lib/checks/residency/rules/unknown-type.ts.',
  *find(template) {
    for (const resource of template.resources) {
      const { type } = resource;
      if (reviewed.has(type) || isCustom(type) || template.boundary.globalTypes?.includes(type)) continue;
      yield findingOf(resource);
    }
  },
};
