import { createResolver } from '../../local/assembly/intrinsics';
import type { Template } from '../../local/assembly/manifest';
import { evaluate, readPolicy } from '../../local/permissions/policy';

type Properties = Readonly<Record<string, unknown>>;
interface Resource {
  readonly id: string;
  readonly type: string;
  readonly properties: Properties;
}

/** Services that act with a function's role from outside of its network: it never calls them itself. */
const calledByLambda = new Set(['logs', 'ec2']);

/**
 * The calls that the network blocks, a sentence each: from every subnet of a function
 * to each service that its role may call, to the database in its variables, and to receivers.
 *
 * @param position.zone where the webhook origin is: the value of `WebhookOriginZone`
 */
export function unreachable(
  template: Template,
  { region, zone }: { readonly region: string; readonly zone: string },
): readonly string[] {
  const resources = present(template, region, zone);
  const ofType = (type: string) => resources.filter((resource) => resource.type === type);
  const running = ofType('AWS::Lambda::Function').filter(
    ({ id, properties }) => properties.VpcConfig !== undefined && !isSwitchedOff(id, ofType),
  );
  return running.flatMap((lambda) => {
    const { SubnetIds, SecurityGroupIds } = lambda.properties.VpcConfig as Record<string, string[]>;
    const variables = (lambda.properties.Environment as { Variables: Record<string, string> }).Variables;
    const groups = SecurityGroupIds ?? [];
    const failing = (target: string, reason: string | undefined) =>
      reason === undefined ? [] : [`${lambda.id} cannot reach ${target}: ${reason}`];
    const throughGateway = (port: number) =>
      (SubnetIds ?? []).map((subnet) => wayOut(subnet, port, groups, ofType)).find(Boolean);

    const services = [...callsByService(lambda, ofType)].flatMap(([service, calls]) => {
      const endpoint = ofType('AWS::EC2::VPCEndpoint').find(
        ({ properties }) =>
          properties.ServiceName === `com.amazonaws.${region}.${service}` &&
          properties.PrivateDnsEnabled === true,
      );
      return failing(
        service,
        endpoint ? throughEndpoint(endpoint, calls, groups, ofType) : throughGateway(443),
      );
    });
    return [
      ...services,
      ...(variables.DATABASE_HOST ? failing('the database', toDatabase(groups, ofType)) : []),
      // As `readReceiverUrl` has it.
      ...(variables.WEBHOOK_SECRETS_KEY_ID
        ? [443, 1024, 65_535].flatMap((port) => failing(`receivers on port ${port}`, throughGateway(port)))
        : []),
    ];
  });
}

type OfType = (type: string) => readonly Resource[];

const relevant =
  /^AWS::(Lambda::(Function|EventSourceMapping)|IAM::Policy|RDS::DBCluster|EC2::(?!VPC$|FlowLog|EIP))/;

/** The resources whose conditions are true, with references as logical ids. */
function present(template: Template, region: string, zone: string): readonly Resource[] {
  const leadsToResource = new Set(['Arn', 'GroupId', 'NatGatewayId']);
  const resolver = createResolver({
    stackName: 'Stack',
    region,
    template: withDefault(template, 'WebhookOriginZone', zone),
    resources: {
      ref: (id) => id,
      attribute: (id, name) => (leadsToResource.has(name) ? id : `${id}.${name}`),
      secret: () => '{"username":"","password":""}',
    },
  });
  return Object.entries(template.Resources)
    .filter(([, { Type, Condition }]) => relevant.test(Type) && (!Condition || resolver.condition(Condition)))
    .map(([id, { Type, Properties = {} }]) => ({
      id,
      type: Type,
      properties: resolver.resolve(Properties, id) as Properties,
    }));
}

/** The template with another default for a parameter. */
function withDefault(template: Template, name: string, value: string): Template {
  const parameter = { Type: 'String', ...template.Parameters?.[name], Default: value };
  return { ...template, Parameters: { ...template.Parameters, [name]: parameter } };
}

/** A function with only queues as sources does not run while they are disabled. */
function isSwitchedOff(id: string, ofType: OfType): boolean {
  const sources = ofType('AWS::Lambda::EventSourceMapping').filter(
    ({ properties }) => properties.FunctionName === id,
  );
  return sources.length > 0 && sources.every(({ properties }) => properties.Enabled === false);
}

interface Call {
  readonly action: string;
  readonly resource: string;
}

/** What the function's role allows, less what services do with the role on the function's behalf. */
function callsByService(lambda: Resource, ofType: OfType): ReadonlyMap<string, readonly Call[]> {
  const calls = new Map<string, Call[]>();
  const documents = ofType('AWS::IAM::Policy')
    .filter(({ properties }) => (properties.Roles as string[]).includes(String(lambda.properties.Role)))
    .flatMap(({ id, properties }) => readPolicy(properties.PolicyDocument, id));
  for (const { effect, actions, resources, conditions } of documents) {
    if (effect === 'Deny' || conditions.some(({ key }) => key === 'kms:viaservice')) continue;
    for (const action of actions) {
      const service = action.split(':')[0] ?? '';
      // Signing in is not a call: the function creates the token.
      if (calledByLambda.has(service) || service === 'rds-db') continue;
      calls.set(service, [
        ...(calls.get(service) ?? []),
        ...resources.map((resource) => ({ action, resource })),
      ]);
    }
  }
  return calls;
}

function throughEndpoint(
  { id, properties }: Resource,
  calls: readonly Call[],
  groups: readonly string[],
  ofType: OfType,
): string | undefined {
  const ownGroups = properties.SecurityGroupIds as string[];
  const closed = connection(groups, ownGroups, 443, ofType);
  if (closed) return closed;
  const statements = readPolicy(properties.PolicyDocument, id);
  const refused = calls.find(
    (call) => evaluate(statements, { principal: 'role', context: {}, ...call }) !== 'Allow',
  );
  return (
    refused && `the policy of the endpoint ${id} does not allow ${refused.action} on ${refused.resource}`
  );
}

function toDatabase(groups: readonly string[], ofType: OfType): string | undefined {
  const [cluster] = ofType('AWS::RDS::DBCluster');
  if (!cluster) return 'there is no cluster';
  return connection(
    groups,
    cluster.properties.VpcSecurityGroupIds as string[],
    Number(cluster.properties.Port),
    ofType,
  );
}

/** Why members of the first groups cannot connect to members of the others. */
function connection(
  from: readonly string[],
  to: readonly string[],
  port: number,
  ofType: OfType,
): string | undefined {
  const out = rules('Egress', from, ofType).some((rule) => opens(rule, port, { groups: to }));
  if (!out) return `no rule of ${from.join(', ')} lets it out to ${to.join(', ')} on port ${port}`;
  const admitted = rules('Ingress', to, ofType).some((rule) => opens(rule, port, { groups: from }));
  return admitted ? undefined : `no rule of ${to.join(', ')} lets it in on port ${port}`;
}

/** Why a function in the subnet cannot reach the internet: rules, its route, the gateway, the gateway's route. */
function wayOut(subnet: string, port: number, groups: readonly string[], ofType: OfType): string | undefined {
  if (!rules('Egress', groups, ofType).some((rule) => opens(rule, port, { everywhere: true }))) {
    return `no rule of ${groups.join(', ')} lets it out on port ${port}`;
  }
  const gatewayId = defaultRoute(subnet, ofType)?.NatGatewayId;
  const gateway = ofType('AWS::EC2::NatGateway').find(({ id }) => id === gatewayId);
  if (!gateway) return `${subnet} has no route to a gateway`;
  return defaultRoute(String(gateway.properties.SubnetId), ofType)?.GatewayId
    ? undefined
    : `the subnet of ${gateway.id} has no route to the internet`;
}

function defaultRoute(subnet: string, ofType: OfType): Properties | undefined {
  const table = ofType('AWS::EC2::SubnetRouteTableAssociation').find(
    ({ properties }) => properties.SubnetId === subnet,
  )?.properties.RouteTableId;
  return ofType('AWS::EC2::Route').find(
    ({ properties }) => properties.RouteTableId === table && properties.DestinationCidrBlock === '0.0.0.0/0',
  )?.properties;
}

function rules(
  direction: 'Egress' | 'Ingress',
  groups: readonly string[],
  ofType: OfType,
): readonly Properties[] {
  const inline = ofType('AWS::EC2::SecurityGroup')
    .filter(({ id }) => groups.includes(id))
    .flatMap(({ properties }) => (properties[`SecurityGroup${direction}`] ?? []) as Properties[]);
  const apart = ofType(`AWS::EC2::SecurityGroup${direction}`)
    .map(({ properties }) => properties)
    .filter(({ GroupId }) => groups.includes(String(GroupId)));
  return [...inline, ...apart];
}

function opens(
  { IpProtocol, FromPort, ToPort, CidrIp, SourceSecurityGroupId, DestinationSecurityGroupId }: Properties,
  port: number,
  peer: { readonly groups?: readonly string[]; readonly everywhere?: boolean },
): boolean {
  const covers = Number(FromPort) <= port && port <= Number(ToPort);
  const group = String(SourceSecurityGroupId ?? DestinationSecurityGroupId);
  const reaches = CidrIp === '0.0.0.0/0' || (!peer.everywhere && (peer.groups ?? []).includes(group));
  return reaches && (IpProtocol === '-1' || (IpProtocol === 'tcp' && covers));
}
