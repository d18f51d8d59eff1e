import { type CfnResource, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { acknowledge } from '../checks/acknowledgements';
import type { Environment } from '../environment/schema';

export interface NetworkProps {
  readonly environment: Environment;
  /** Creates the isolated subnets only, and keeps the ranges of the others free: a promotion adds them. @default false */
  readonly isStandby?: boolean;
}

/**
 * The region's VPC, IPv4 only. Public subnets contain only the NAT gateway of the webhook origin; private ones reach the
 * internet through it; isolated ones reach nothing outside the VPC.
 */
export class Network extends Construct {
  readonly vpc: ec2.IVpc;

  constructor(scope: Construct, id: string, { environment, isStandby: reserved = false }: NetworkProps) {
    super(scope, id);
    const { PUBLIC, PRIVATE_WITH_EGRESS, PRIVATE_ISOLATED } = ec2.SubnetType;
    const logGroup = { retention: environment.logRetentionDays, removalPolicy: RemovalPolicy.DESTROY };
    // In a /16, /24 for the gateways and /20 for all else; in a smaller block as many of its parts.
    const length = Number(environment.vpcCidr.split('/')[1]);
    const [gateways, others] = [24, 20].map((mask) => mask - 16 + length) as [number, number];
    const flowLog = new LogGroup(this, 'FlowLog', logGroup);
    const vpc = new ec2.Vpc(this, 'Vpc', {
      ipAddresses: ec2.IpAddresses.cidr(environment.vpcCidr),
      availabilityZones: [...environment.zones],
      // The webhook origin has the one gateway.
      natGateways: 0,
      restrictDefaultSecurityGroup: true,
      subnetConfiguration: [
        { name: 'Public', subnetType: PUBLIC, cidrMask: gateways, mapPublicIpOnLaunch: false, reserved },
        { name: 'Private', subnetType: PRIVATE_WITH_EGRESS, cidrMask: others, reserved },
        { name: 'Isolated', subnetType: PRIVATE_ISOLATED, cidrMask: others },
      ],
      flowLogs: {
        All: {
          destination: ec2.FlowLogDestination.toCloudWatchLogs(flowLog),
          trafficType: ec2.FlowLogTrafficType.ALL,
        },
      },
    });
    for (const { node } of [...vpc.publicSubnets, ...vpc.privateSubnets, ...vpc.isolatedSubnets]) {
      acknowledge(node.findChild('Subnet'), 'subnet');
    }
    const log = new LogGroup(this, 'RestrictDefaultSecurityGroupLog', logGroup);
    restrictDefaultSecurityGroupFunction(Stack.of(this), log);
    // The CDK's class and interface disagree under `exactOptionalPropertyTypes`.
    this.vpc = vpc as ec2.IVpc;
  }
}

/**
 * The CDK empties the VPC's default security group with a custom resource function, whose log never expires and whose role may
 * write to any log of the account. This restricts both as for our own functions.
 */
function restrictDefaultSecurityGroupFunction(stack: Stack, logGroup: LogGroup): void {
  const { node } = stack.node.findChild('Custom::VpcRestrictDefaultSGCustomResourceProvider');
  const handler = node.findChild('Handler') as CfnResource;
  handler.addPropertyOverride('Architectures', ['arm64']);
  handler.addPropertyOverride('LoggingConfig', { LogFormat: 'JSON', LogGroup: logGroup.logGroupName });
  const role = node.findChild('Role') as CfnResource;
  // The CDK creates both without tags and cannot add any.
  const tags = Object.entries(stack.tags.tagValues()).map(([Key, Value]) => ({ Key, Value }));
  for (const resource of [handler, role]) resource.addPropertyOverride('Tags', tags);
  role.addPropertyDeletionOverride('ManagedPolicyArns');
  const Action = ['logs:CreateLogStream', 'logs:PutLogEvents'];
  role.addPropertyOverride('Policies.1', {
    PolicyName: 'Log',
    PolicyDocument: {
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action, Resource: [logGroup.logGroupArn] }],
    },
  });
}
