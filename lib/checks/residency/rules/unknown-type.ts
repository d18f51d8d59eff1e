import { findingOf, type Rule } from '../rule';

/**
 * Types of resources that were judged: none of them takes data out of its region or lets anybody in, but by a property
 * that another rule reads. A type that is not among them may do either in a way that no rule knows.
 */
const judged = new Set(
  Object.entries({
    ApiGateway:
      'Account Authorizer BasePathMapping Deployment DomainName GatewayResponse Method Resource RestApi Stage',
    AppRunner: 'Service',
    Backup: 'BackupPlan BackupVault',
    Cassandra: 'Keyspace',
    CertificateManager: 'Certificate',
    CloudFormation: 'Stack',
    CloudTrail: 'Trail',
    CloudWatch: 'Alarm',
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

/** What a function of the stacks' own makes: its code is read by people, not by rules. */
const isCustom = (type: string) => /^(Custom::|AWS::CloudFormation::CustomResource$)/.test(type);

/** Types of resources of which nobody has said that they keep data in their region. */
export const unknownType: Rule = {
  id: 'unknown-type',
  refuses: 'A type of resource that was not judged',
  remedy:
    'Find out how it could take data out of its region or let anybody in, write a rule for that, then add the type to lib/checks/residency/rules/unknown-type.ts.',
  *find(template) {
    for (const resource of template.resources) {
      if (!judged.has(resource.type) && !isCustom(resource.type)) yield findingOf(resource);
    }
  },
};
