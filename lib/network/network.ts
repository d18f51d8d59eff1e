import { RemovalPolicy } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import {
  acknowledge,
  acknowledgeInlinePolicy,
  acknowledgeZone,
  nistAndPci,
} from '../checks/acknowledgements';
import type { Environment } from '../environment';
import { restrictDefaultSecurityGroupFunction } from '../functions/cdk-functions';
import { WebhookOrigin } from './webhook-origin';

export interface NetworkProps {
  readonly environment: Environment;
}

/**
 * The region's VPC, IPv4 only. Public subnets hold the NAT gateway and nothing else; private ones reach the
 * internet through it; isolated ones reach nothing outside of the VPC.
 */
export class Network extends Construct {
  readonly vpc: ec2.IVpc;
  /** The one address from which webhooks come. */
  readonly webhookOrigin: WebhookOrigin;

  constructor(scope: Construct, id: string, { environment }: NetworkProps) {
    super(scope, id);
    this.webhookOrigin = new WebhookOrigin(this, 'WebhookOrigin', { environment });
    this.vpc = createVpc(this, environment, this.webhookOrigin.natProvider);
  }
}

/**
 * The VPC of a region that does not serve yet: the isolated subnets, and room for the others, so that they are added
 * without moving what is there. It has no way to the internet or from it.
 */
export class StandbyNetwork extends Construct {
  readonly vpc: ec2.IVpc;

  constructor(scope: Construct, id: string, { environment }: NetworkProps) {
    super(scope, id);
    this.vpc = createVpc(this, environment);
  }
}

/** @param natProvider makes the way to the internet. Without it there is none, and no subnets that would need one */
function createVpc(scope: Construct, environment: Environment, natProvider?: ec2.NatProvider): ec2.IVpc {
  const { PUBLIC, PRIVATE_WITH_EGRESS, PRIVATE_ISOLATED } = ec2.SubnetType;
  const reserved = natProvider === undefined;
  const flowLog = new LogGroup(scope, 'FlowLog', {
    retention: environment.logRetentionDays,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const vpc = new ec2.Vpc(scope, 'Vpc', {
    ipAddresses: ec2.IpAddresses.cidr(environment.vpcCidr),
    availabilityZones: [...environment.zones],
    ...(natProvider && { natGatewayProvider: natProvider }),
    restrictDefaultSecurityGroup: true,
    subnetConfiguration: [
      { name: 'Public', subnetType: PUBLIC, cidrMask: 24, mapPublicIpOnLaunch: false, reserved },
      { name: 'Private', subnetType: PRIVATE_WITH_EGRESS, cidrMask: 20, reserved },
      { name: 'Isolated', subnetType: PRIVATE_ISOLATED, cidrMask: 20 },
    ],
    flowLogs: {
      All: {
        destination: ec2.FlowLogDestination.toCloudWatchLogs(flowLog),
        trafficType: ec2.FlowLogTrafficType.ALL,
      },
    },
  });
  for (const { node } of [...vpc.publicSubnets, ...vpc.privateSubnets, ...vpc.isolatedSubnets]) {
    acknowledgeZone(node.findChild('Subnet'));
  }
  acknowledgeInternetRoutes(vpc);
  acknowledgeInlinePolicy(vpc.node.findChild('All').node.findChild('IAMRole'));
  restrictDefaultSecurityGroupFunction(scope, environment.logRetentionDays);
  // The CDK's class and interface disagree under `exactOptionalPropertyTypes`.
  return vpc as ec2.IVpc;
}

function acknowledgeInternetRoutes({ publicSubnets }: ec2.Vpc): void {
  for (const subnet of publicSubnets) {
    acknowledge(
      subnet.node.findChild('DefaultRoute'),
      nistAndPci('VPCNoUnrestrictedRouteToIGW'),
      'Receivers of webhooks are anywhere on the internet. The subnet holds the NAT gateway at most, which admits no connection from outside, and gives nothing else a public address.',
    );
  }
}
