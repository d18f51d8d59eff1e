import { referencesIn } from '../located-values';
import { findingAt, type Rule } from '../rule';
import type { Resource, Template } from '../template';

/** What belongs to a public subnet itself, and the gateway that it is there for. */
const residents = [
  'AWS::EC2::NatGateway',
  'AWS::EC2::SubnetRouteTableAssociation',
  'AWS::EC2::SubnetNetworkAclAssociation',
  'AWS::EC2::FlowLog',
];

/** Functions, databases, endpoints: none stands where the internet is routed to. */
export const publicSubnet: Rule = {
  id: 'public-subnet',
  refuses: 'Something else than the NAT gateway in a public subnet',
  remedy: 'Put it into the private or the isolated subnets.',
  *find(template) {
    const subnets = publicSubnetsOf(template);
    for (const resource of template.resources) {
      if (residents.includes(resource.type)) continue;
      for (const [name, value] of Object.entries(resource.properties)) {
        const subnet = Array.from(referencesIn(value)).find((logicalId) => subnets.has(logicalId));
        if (subnet !== undefined)
          yield findingAt(resource, { location: `Properties.${name}`, value: subnet });
      }
    }
  },
};

/** Subnets whose route table has a route to an internet gateway. */
function publicSubnetsOf({ resources }: Template): ReadonlySet<string> {
  const vpnGateways = new Set(logicalIdsOf(resources, 'AWS::EC2::VPNGateway'));
  const routeTables = new Set(
    ofType(resources, 'AWS::EC2::Route')
      .filter(
        ({ properties: { GatewayId: gateway } }) => gateway !== undefined && !refersTo(gateway, vpnGateways),
      )
      .flatMap(({ properties }) => [...referencesIn(properties.RouteTableId)]),
  );
  return new Set(
    ofType(resources, 'AWS::EC2::SubnetRouteTableAssociation')
      .filter(({ properties }) => refersTo(properties.RouteTableId, routeTables))
      .flatMap(({ properties }) => [...referencesIn(properties.SubnetId)]),
  );
}

const ofType = (resources: readonly Resource[], type: string) =>
  resources.filter((resource) => resource.type === type);

const logicalIdsOf = (resources: readonly Resource[], type: string) =>
  ofType(resources, type).map(({ logicalId }) => logicalId);

const refersTo = (value: unknown, logicalIds: ReadonlySet<string>) =>
  Array.from(referencesIn(value)).some((logicalId) => logicalIds.has(logicalId));
