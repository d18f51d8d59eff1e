import type { Resource, Rule, Template } from './template';
import { referencesIn } from './texts';

/**
 * One address that receivers can rely on: one gateway, and no spare Elastic IP but the reserve that the row asks for. An
 * adopted address is no resource of the stack, so there may be fewer.
 */
export const natCount: Rule = {
  id: 'nat-count',
  refuses: 'Not the number of NAT gateways that the stack has: one where it serves, none where it stands by',
  remedy: 'Send everything through the one webhook origin gateway, with the one address.',
  *find({ boundary, resources }) {
    const gateways = ofType(resources, 'AWS::EC2::NatGateway');
    if (gateways.length < boundary.natGateways) {
      yield { location: 'Resources', value: `${gateways.length} NAT gateways` };
    }
    const elasticIps = ofType(resources, 'AWS::EC2::EIP');
    for (const { logicalId, type } of [
      ...gateways.slice(boundary.natGateways),
      ...elasticIps.slice(boundary.elasticIps ?? boundary.natGateways),
    ])
      yield { logicalId, location: 'Type', value: type };
  },
};

/**
 * The address is a promise to receivers: it outlives its resource and its stack. One that a first deployment made before it
 * failed was promised to nobody, and may go with it (`RetainExceptOnCreate`).
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
 */
export const elasticIpRetained: Rule = {
  id: 'elastic-ip-not-retained',
  refuses: 'An Elastic IP that is given back with its stack or its replacement',
  remedy: 'Set DeletionPolicy to Retain or RetainExceptOnCreate, and UpdateReplacePolicy to Retain.',
  *find({ resources }) {
    for (const { logicalId, deletionPolicy, updateReplacePolicy } of ofType(resources, 'AWS::EC2::EIP')) {
      if (deletionPolicy !== 'Retain' && deletionPolicy !== 'RetainExceptOnCreate') {
        yield { logicalId, location: 'DeletionPolicy', value: deletionPolicy };
      }
      if (updateReplacePolicy !== 'Retain') {
        yield { logicalId, location: 'UpdateReplacePolicy', value: updateReplacePolicy };
      }
    }
  },
};

/** What belongs to a public subnet itself, and the gateway that it is there for. */
const residents = ['AWS::EC2::NatGateway', 'AWS::EC2::SubnetRouteTableAssociation', 'AWS::EC2::FlowLog'];

/** Functions, databases, endpoints: none stands where the internet is routed to. */
export const publicSubnet: Rule = {
  id: 'public-subnet',
  refuses: 'Something else than the NAT gateway in a public subnet',
  remedy: 'Put it into the private or the isolated subnets.',
  *find(template) {
    const subnets = publicSubnetsOf(template);
    for (const { logicalId, type, properties } of template.resources) {
      if (residents.includes(type)) continue;
      for (const [name, value] of Object.entries(properties)) {
        const subnet = referencesIn(value).find((id) => subnets.includes(id));
        if (subnet !== undefined) yield { logicalId, location: `Properties.${name}`, value: subnet };
      }
    }
  },
};

/** Subnets whose route table has a route to an internet gateway. */
function publicSubnetsOf({ resources }: Template): readonly string[] {
  const routeTables = ofType(resources, 'AWS::EC2::Route')
    .filter(({ properties }) => properties.GatewayId !== undefined)
    .flatMap(({ properties }) => referencesIn(properties.RouteTableId));
  return ofType(resources, 'AWS::EC2::SubnetRouteTableAssociation')
    .filter(({ properties }) => referencesIn(properties.RouteTableId).some((id) => routeTables.includes(id)))
    .flatMap(({ properties }) => referencesIn(properties.SubnetId));
}

const ofType = (resources: readonly Resource[], type: string) =>
  resources.filter((resource) => resource.type === type);
