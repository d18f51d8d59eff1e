import {
  CfnCondition,
  CfnParameter,
  type CfnParameterProps,
  Fn,
  type ICfnConditionExpression,
  RemovalPolicy,
  Tags,
} from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';
import type { AdoptedElasticIp, Environment } from '../environment/schema';

export interface WebhookOriginProps {
  readonly environment: Environment;
  readonly vpc: ec2.IVpc;
}

/**
 * The fixed source address of webhooks: one Elastic IP on one NAT gateway.
 * A row may configure a reserve: a second Elastic IP, for an emergency in which the first cannot be moved.
 *
 * The stack parameter `WebhookOriginZone` is the number of the gateway's zone in the row, or `none`. An Elastic IP cannot be on two
 * gateways and CloudFormation creates the new one first, so a move goes through `none`: a direct change from zone to zone fails and
 * rolls back; the address does not move.
 */
export class WebhookOrigin extends Construct {
  /** The IPv4 address, retained when the stack is deleted, unless the environment is disposable. */
  readonly address: string;
  /** Published with the address. `isInUse` while the gateway, if there is one, has the reserve. @default - none */
  readonly reserve: (AdoptedElasticIp & { readonly isInUse: CfnCondition }) | undefined;
  /** The addresses that this stack sends from: the address, then the reserve. */
  readonly published: readonly string[];
  /** The standby's or, after a promotion, the former region's: receivers allow it; this stack never sends from it. @default - none */
  readonly standbyAddress: string | undefined;
  /** The addresses that receivers allow besides `address`. */
  readonly reserves: readonly string[];
  /** True while a gateway has the address. Otherwise webhook consumers are disabled. */
  readonly isAttached: CfnCondition;
  /** Refer to it only under the condition `isAttached`. */
  readonly gatewayId: string;
  /** The private subnets' routes to the gateway; they exist only if `isAttached`. */
  readonly routes: readonly ec2.CfnRoute[];

  constructor(scope: Construct, id: string, { environment, vpc }: WebhookOriginProps) {
    super(scope, id);
    const zone = this.addParameter('Zone', {
      default: '1',
      description:
        'Zone of the NAT gateway with the webhook origin address. To move it, deploy "none" first.',
      allowedValues: [...vpc.publicSubnets.map((_, index) => String(index + 1)), 'none'],
    });
    this.isAttached = this.addCondition('IsAttached', Fn.conditionNot(Fn.conditionEquals(zone, 'none')));
    const elasticIp = environment.adoptedElasticIp ?? this.createElasticIp(environment, 'ElasticIp');
    this.address = elasticIp.address;
    this.reserve = this.addReserve(environment);
    const reserved = this.reserve ? [this.reserve.address] : [];
    this.published = [this.address, ...reserved];
    const { standby, formerAddress } = environment;
    this.standbyAddress = standby?.adoptedElasticIp?.address ?? formerAddress;
    this.reserves = [...reserved, ...(this.standbyAddress ? [this.standbyAddress] : [])];
    const { reserve } = this;
    const allocationId = reserve
      ? Fn.conditionIf(reserve.isInUse.logicalId, reserve.allocationId, elasticIp.allocationId).toString()
      : elasticIp.allocationId;
    const gateway = new ec2.CfnNatGateway(this, 'Gateway', {
      allocationId,
      subnetId: this.subnetOf(zone, vpc),
    });
    gateway.overrideLogicalId('WebhookOriginNatGateway');
    Tags.of(gateway).add('Name', nameTag(environment));
    gateway.cfnOptions.condition = this.isAttached;
    gateway.node.addDependency(
      ...vpc.publicSubnets.map(({ internetConnectivityEstablished }) => internetConnectivityEstablished),
    );
    this.gatewayId = gateway.attrNatGatewayId;
    this.routes = vpc.privateSubnets.map((subnet) => {
      const route = new ec2.CfnRoute(subnet, 'DefaultRoute', {
        routeTableId: subnet.routeTable.routeTableId,
        destinationCidrBlock: '0.0.0.0/0',
        natGatewayId: this.gatewayId,
      });
      route.cfnOptions.condition = this.isAttached;
      return route;
    });
  }

  /**
   * A stack parameter selects the reserve, rather than a property of the row, so that deployments do not change it. One update sets
   * it with the zone and creates the new gateway before it removes the old one, which may not respond.
   */
  private addReserve(environment: Environment): WebhookOrigin['reserve'] {
    const { reserve = false, adoptedReserve } = environment.webhookOrigin ?? {};
    if (!reserve) return undefined;
    const isUsed = this.addParameter('UsesReserve', {
      default: 'no',
      description: 'Whether webhooks come from the reserve address. Only in an announced emergency.',
      allowedValues: ['yes', 'no'],
    });
    const isInUse = this.addCondition('ReserveIsInUse', Fn.conditionEquals(isUsed, 'yes'));
    return { ...(adoptedReserve ?? this.createElasticIp(environment, 'ReserveElasticIp')), isInUse };
  }

  private createElasticIp(environment: Environment, id: 'ElasticIp' | 'ReserveElasticIp'): AdoptedElasticIp {
    const elasticIp = new ec2.CfnEIP(this, id, { domain: 'vpc' });
    elasticIp.overrideLogicalId(`WebhookOrigin${id}`);
    elasticIp.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    const name = nameTag(environment);
    Tags.of(elasticIp).add('Name', id === 'ElasticIp' ? name : `reserve of the ${name}`);
    return { allocationId: elasticIp.attrAllocationId, address: elasticIp.attrPublicIp };
  }

  /** CloudFormation has no switch: a nested condition for each zone but the last. */
  private subnetOf(zone: string, { publicSubnets }: ec2.IVpc): string {
    const subnetIds = publicSubnets.map(({ subnetId }) => subnetId);
    return subnetIds.reduceRight((others, subnetId, index) => {
      const number = String(index + 1);
      const isInZone = this.addCondition(`IsInZone${number}`, Fn.conditionEquals(zone, number));
      return Fn.conditionIf(isInZone.logicalId, subnetId, others).toString();
    });
  }

  private addParameter(id: string, props: CfnParameterProps): string {
    const parameter = new CfnParameter(this, id, props);
    parameter.overrideLogicalId(`WebhookOrigin${id}`);
    return parameter.valueAsString;
  }

  private addCondition(id: string, expression: ICfnConditionExpression): CfnCondition {
    const condition = new CfnCondition(this, id, { expression });
    condition.overrideLogicalId(`WebhookOrigin${id}`);
    return condition;
  }
}

const nameTag = ({ name }: Environment) => `webhook origin of ${name}`;
