import { CfnCondition, CfnParameter, Fn, RemovalPolicy, Tags } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';
import type { AdoptedElasticIp, Environment } from '../environment';

const detached = 'none';

/** The Elastic IP from which webhooks come only while the one address cannot be used. */
export interface OriginReserve extends AdoptedElasticIp {
  /** True while the gateway, if there is one, has this address. */
  readonly isInUse: CfnCondition;
}

export interface WebhookOriginProps {
  readonly environment: Environment;
}

/**
 * The fixed address from which webhooks come: one Elastic IP on one NAT gateway.
 * A row may ask for a reserve: a second Elastic IP, for an emergency in which the one address cannot be moved.
 *
 * The stack parameter `WebhookOriginZone` says in which of the VPC's zones the gateway stands, or `none`. An Elastic
 * IP cannot be on two gateways and CloudFormation makes the new one first, so a move goes through `none`: a direct
 * change from zone to zone fails and is rolled back, with the address where it was.
 */
export class WebhookOrigin extends Construct {
  /** The IPv4 address. It outlives the stack. */
  readonly address: string;
  /** True while a gateway holds the address; switch off what sends from it otherwise. */
  readonly isAttached: CfnCondition;
  /** The second address, published with the first. @default - the row asks for none */
  readonly reserve: OriginReserve | undefined;
  private readonly gateway: WebhookOriginGateway;

  constructor(scope: Construct, id: string, { environment }: WebhookOriginProps) {
    super(scope, id);
    const zones = environment.zones.map((_, index) => String(index + 1));
    const zone = new CfnParameter(this, 'Zone', {
      description: `Zone of the gateway that holds the webhook origin address. Move by way of "${detached}".`,
      allowedValues: [...zones, detached],
      default: '1',
    });
    zone.overrideLogicalId('WebhookOriginZone');
    this.isAttached = new CfnCondition(this, 'IsAttached', {
      expression: Fn.conditionNot(Fn.conditionEquals(zone.valueAsString, detached)),
    });
    this.isAttached.overrideLogicalId('WebhookOriginIsAttached');

    const elasticIp = environment.adoptedElasticIp ?? this.keepElasticIp(environment, 'ElasticIp');
    this.address = elasticIp.address;
    const reserve = this.keepReserve(environment);
    this.reserve = reserve;
    this.gateway = new WebhookOriginGateway({
      allocationId: reserve
        ? Fn.conditionIf(reserve.isInUse.logicalId, reserve.allocationId, elasticIp.allocationId).toString()
        : elasticIp.allocationId,
      isAttached: this.isAttached,
      name: nameTag(environment),
      zone: zone.valueAsString,
    });
  }

  /** To be given to the VPC. */
  get natProvider(): ec2.NatProvider {
    return this.gateway;
  }

  /** The private subnets' routes to the gateway, once a VPC has been made. They are there while it `isAttached`. */
  get routes(): readonly ec2.CfnRoute[] {
    return this.gateway.routes;
  }

  /**
   * The NAT gateway. Refer to it only under the condition `isAttached`.
   *
   * @throws Error before a VPC has been made with `natProvider`
   */
  get gatewayId(): string {
    const [gateway] = this.gateway.configuredGateways;
    if (gateway === undefined) throw new Error('The webhook origin has no gateway yet: make the VPC first.');
    return gateway.gatewayId;
  }

  /**
   * A parameter, not a property of the row, says whether the reserve is in use: a deployment must not change it. With the
   * zone it makes one update, which makes the new gateway before anything of the old one has to respond.
   */
  private keepReserve(environment: Environment): OriginReserve | undefined {
    const { reserve = false, adoptedReserve } = environment.webhookOrigin ?? {};
    if (!reserve) return undefined;
    const isUsed = new CfnParameter(this, 'UsesReserve', {
      description: 'Whether webhooks come from the reserve address: in an announced emergency only.',
      allowedValues: ['yes', 'no'],
      default: 'no',
    });
    isUsed.overrideLogicalId('WebhookOriginUsesReserve');
    const isInUse = new CfnCondition(this, 'ReserveIsInUse', {
      expression: Fn.conditionEquals(isUsed.valueAsString, 'yes'),
    });
    isInUse.overrideLogicalId('WebhookOriginReserveIsInUse');
    return { ...(adoptedReserve ?? this.keepElasticIp(environment, 'ReserveElasticIp')), isInUse };
  }

  private keepElasticIp(environment: Environment, id: 'ElasticIp' | 'ReserveElasticIp'): AdoptedElasticIp {
    const { publicIpv4Pool } = environment;
    const elasticIp = new ec2.CfnEIP(this, id, {
      domain: 'vpc',
      ...(publicIpv4Pool !== undefined && { publicIpv4Pool }),
    });
    elasticIp.overrideLogicalId(`WebhookOrigin${id}`);
    elasticIp.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    Tags.of(elasticIp).add(
      'Name',
      id === 'ElasticIp' ? nameTag(environment) : `reserve of the ${nameTag(environment)}`,
    );
    return { allocationId: elasticIp.attrAllocationId, address: elasticIp.attrPublicIp };
  }
}

const nameTag = ({ name }: Environment) => `webhook origin of ${name}`;

interface WebhookOriginGatewayProps {
  readonly name: string;
  readonly allocationId: string;
  readonly isAttached: CfnCondition;
  /** Number of the zone, from 1. */
  readonly zone: string;
}

/** Makes the one NAT gateway, in the zone that the parameter names, and the private subnets' routes to it. */
class WebhookOriginGateway extends ec2.NatProvider {
  readonly routes: ec2.CfnRoute[] = [];
  private gatewayId: string | undefined;

  constructor(private readonly props: WebhookOriginGatewayProps) {
    super();
  }

  get configuredGateways(): ec2.GatewayConfig[] {
    // The zone's number: its name is known when the stack is deployed, not before.
    return this.gatewayId === undefined ? [] : [{ az: this.props.zone, gatewayId: this.gatewayId }];
  }

  override configureNat({ vpc, natSubnets, privateSubnets }: ec2.ConfigureNatOptions): void {
    const gateway = new ec2.CfnNatGateway(vpc, 'WebhookOriginGateway', {
      allocationId: this.props.allocationId,
      subnetId: this.subnetOfZone(vpc, natSubnets),
    });
    gateway.overrideLogicalId('WebhookOriginNatGateway');
    Tags.of(gateway).add('Name', this.props.name);
    gateway.cfnOptions.condition = this.props.isAttached;
    gateway.node.addDependency(...natSubnets.map((subnet) => subnet.internetConnectivityEstablished));
    this.gatewayId = gateway.attrNatGatewayId;
    for (const subnet of privateSubnets) {
      this.configureSubnet(subnet);
    }
  }

  override configureSubnet(subnet: ec2.PrivateSubnet): void {
    if (this.gatewayId === undefined) {
      throw new Error('The VPC has no webhook origin gateway yet: configureNat comes first.');
    }
    const route = new ec2.CfnRoute(subnet, 'DefaultRoute', {
      routeTableId: subnet.routeTable.routeTableId,
      destinationCidrBlock: '0.0.0.0/0',
      natGatewayId: this.gatewayId,
    });
    route.cfnOptions.condition = this.props.isAttached;
    this.routes.push(route);
  }

  /** Nested conditions, one for each zone but the last: CloudFormation has no switch. */
  private subnetOfZone(scope: Construct, subnets: readonly ec2.PublicSubnet[]): string {
    return subnets
      .map((subnet, index) => ({ subnetId: subnet.subnetId, zone: index + 1 }))
      .reduceRight((others, { subnetId, zone }) => {
        const isInZone = new CfnCondition(scope, `IsInZone${zone}`, {
          expression: Fn.conditionEquals(this.props.zone, String(zone)),
        });
        isInZone.overrideLogicalId(`WebhookOriginIsInZone${zone}`);
        return { subnetId: Fn.conditionIf(isInZone.logicalId, subnetId, others.subnetId).toString(), zone };
      }).subnetId;
  }
}
