import { createResolver } from '../../local/assembly/intrinsics';
import type { Template } from '../../local/assembly/manifest';
import { evaluate, readPolicy } from '../../local/permissions/policy';

interface Resource {
  readonly id: string;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a template has no types
  readonly properties: any;
}

interface Call {
  readonly action: string;
  readonly resource: string;
}

/** Services that act with a function's role from outside of its network; and signing in, for which the function makes a token. */
const notCalled = ['logs', 'ec2', 'rds-db'];

/** As `readReceiverUrl` checks it. */
const receiverPorts = [443, 1024, 65_535];

/**
 * What the network blocks, as `function cannot reach target`: each service that its role may call, the database in its variables, and
 * receivers.
 *
 * @param position.zone where the webhook origin is: the value of `WebhookOriginZone`
 */
export function unreachable(
  template: Template,
  { region, zone }: { readonly region: string; readonly zone: string },
): readonly string[] {
  const resources = present(template, region, zone);
  const ofType = (type: string) => resources.filter((resource) => resource.type === `AWS::${type}`);
  const propertiesOf = (type: string) => ofType(type).map(({ properties }) => properties);

  const opens = (rule: Resource['properties'], port: number, peers: readonly string[]) =>
    (rule.IpProtocol === '-1' ||
      (rule.IpProtocol === 'tcp' && rule.FromPort <= port && port <= rule.ToPort)) &&
    (rule.CidrIp === '0.0.0.0/0' ||
      peers.includes(rule.SourceSecurityGroupId ?? rule.DestinationSecurityGroupId));
  const letsOut = (groups: readonly string[], port: number, peers: readonly string[]) =>
    ofType('EC2::SecurityGroup')
      .filter(({ id }) => groups.includes(id))
      .flatMap(({ properties }) => properties.SecurityGroupEgress ?? [])
      .some((rule) => opens(rule, port, peers));
  const letsIn = (groups: readonly string[], port: number, peers: readonly string[]) =>
    propertiesOf('EC2::SecurityGroupIngress')
      .filter(({ GroupId }) => groups.includes(GroupId))
      .some((rule) => opens(rule, port, peers));

  const defaultRoute = (subnet: string) => {
    const associations = propertiesOf('EC2::SubnetRouteTableAssociation');
    const table = associations.find(({ SubnetId }) => SubnetId === subnet)?.RouteTableId;
    return propertiesOf('EC2::Route').find(
      ({ RouteTableId, DestinationCidrBlock }) =>
        RouteTableId === table && DestinationCidrBlock === '0.0.0.0/0',
    );
  };
  const hasWayOut = (subnet: string) => {
    const gatewayId = defaultRoute(subnet)?.NatGatewayId;
    const gateway = ofType('EC2::NatGateway').find(({ id }) => id === gatewayId);
    return gateway !== undefined && defaultRoute(gateway.properties.SubnetId)?.GatewayId !== undefined;
  };

  /** What the function's role allows, less what services do with the role on the function's behalf. */
  const callsOf = ({ properties }: Resource): readonly Call[] =>
    ofType('IAM::Policy')
      .filter((policy) => policy.properties.Roles.includes(properties.Role))
      .flatMap((policy) => readPolicy(policy.properties.PolicyDocument, policy.id))
      .filter(
        ({ effect, conditions }) =>
          effect === 'Allow' && conditions.every(({ key }) => key !== 'kms:viaservice'),
      )
      .flatMap(({ actions, resources }) =>
        actions.flatMap((action) => resources.map((resource) => ({ action, resource }))),
      );

  /** A function with only queues as sources does not run while they are disabled. */
  const isSwitchedOff = ({ id }: Resource) => {
    const sources = propertiesOf('Lambda::EventSourceMapping').filter(
      ({ FunctionName }) => FunctionName === id,
    );
    return sources.length > 0 && sources.every(({ Enabled }) => Enabled === false);
  };

  return ofType('Lambda::Function')
    .filter((lambda) => lambda.properties.VpcConfig !== undefined && !isSwitchedOff(lambda))
    .flatMap((lambda) => {
      const { SubnetIds: subnets, SecurityGroupIds: groups } = lambda.properties.VpcConfig;
      const variables = lambda.properties.Environment.Variables;
      const reachesInternet = (port: number) => letsOut(groups, port, []) && subnets.every(hasWayOut);
      const reachesPeer = (peers: readonly string[], port: number) =>
        letsOut(groups, port, peers) && letsIn(peers, port, groups);

      const isAllowed = ({ properties, id }: Resource, { action, resource }: Call) =>
        evaluate(readPolicy(properties.PolicyDocument, id), {
          principal: 'role',
          context: {},
          action,
          resource,
        }) === 'Allow';

      const targets: Record<string, boolean> = {};
      for (const call of callsOf(lambda)) {
        const service = call.action.split(':')[0] ?? '';
        if (notCalled.includes(service)) continue;
        const endpoint = ofType('EC2::VPCEndpoint').find(
          ({ properties: { ServiceName, PrivateDnsEnabled } }) =>
            ServiceName === `com.amazonaws.${region}.${service}` && PrivateDnsEnabled === true,
        );
        const isReachable = endpoint
          ? reachesPeer(endpoint.properties.SecurityGroupIds, 443) && isAllowed(endpoint, call)
          : reachesInternet(443);
        targets[service] = isReachable && targets[service] !== false;
      }
      const [cluster] = propertiesOf('RDS::DBCluster');
      if (variables.DATABASE_HOST)
        targets['the database'] = reachesPeer(cluster.VpcSecurityGroupIds, Number(cluster.Port));
      if (variables.WEBHOOK_SECRETS_KEY_ID) targets.receivers = receiverPorts.every(reachesInternet);
      return Object.keys(targets)
        .filter((target) => !targets[target])
        .map((target) => `${lambda.id} cannot reach ${target}`);
    });
}

const relevant =
  /^AWS::(Lambda::(Function|EventSourceMapping)|IAM::Policy|RDS::DBCluster|EC2::(?!VPC$|FlowLog|EIP))/;

/** The resources whose conditions are true, with references as logical ids. */
function present(template: Template, region: string, zone: string): readonly Resource[] {
  const leadsToResource = ['Arn', 'GroupId', 'NatGatewayId'];
  const parameter = { Type: 'String', ...template.Parameters?.WebhookOriginZone, Default: zone };
  const resolver = createResolver({
    stackName: 'Stack',
    region,
    template: { ...template, Parameters: { ...template.Parameters, WebhookOriginZone: parameter } },
    resources: {
      ref: (id) => id,
      attribute: (id, name) => (leadsToResource.includes(name) ? id : `${id}.${name}`),
      secret: () => '{"username":"","password":""}',
    },
  });
  return Object.entries(template.Resources)
    .filter(([, { Type, Condition }]) => relevant.test(Type) && (!Condition || resolver.condition(Condition)))
    .map(([id, { Type, Properties = {} }]) => ({
      id,
      type: Type,
      properties: resolver.resolve(Properties, id),
    }));
}
