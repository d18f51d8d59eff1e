import type { LocalResource, ResourceRequest } from './deployment';
import { arn, physicalName, type StackIdentity } from './names';

/** Where requests to receivers on this machine come from. */
const loopback = '127.0.0.1';

type Values = (
  name: string,
  properties: ResourceRequest['properties'],
  logicalId: string,
) => { readonly ref?: string; readonly [attribute: string]: string | undefined };

/** Types whose values mean something on this machine, or to which a resource made here refers. */
const valuesOf: Readonly<Record<string, Values>> = {
  // The reserve is this machine by another address, from which no request comes.
  'AWS::EC2::EIP': (name, _, logicalId) => {
    const address = /Reserve/.test(logicalId) ? '127.0.0.2' : loopback;
    return { ref: address, PublicIp: address, AllocationId: name };
  },
  'AWS::EC2::VPC': (name) => ({ DefaultSecurityGroup: `${name}-default` }),
  'AWS::EC2::NatGateway': (name) => ({ NatGatewayId: name }),
  'AWS::ApiGateway::RestApi': (name) => ({ RestApiId: name, RootResourceId: `${name}-root` }),
  'AWS::ApiGateway::Resource': (name) => ({ ResourceId: name }),
  'AWS::ApiGateway::Stage': (_, { StageName }) => ({ ref: String(StageName) }),
  'AWS::ApiGateway::Deployment': (name) => ({ DeploymentId: name }),
  'AWS::ApiGateway::DomainName': () => ({ RegionalDomainName: loopback }),
  'AWS::ApiGateway::Authorizer': (name) => ({ AuthorizerId: name }),
};

/** Stands for a resource that this machine does not need: a name, an ARN, and what `valuesOf` has. */
export function stubResource(
  stack: StackIdentity,
  { logicalId, type, properties }: ResourceRequest,
): LocalResource {
  const name = physicalName(stack, logicalId);
  const service = type.split('::')[1]?.toLowerCase() ?? type;
  const { ref = name, ...attributes } = valuesOf[type]?.(name, properties, logicalId) ?? {};
  const resource = type === 'AWS::Logs::LogGroup' ? `log-group:${name}:*` : name;
  return { ref, attributes: { Arn: arn(stack, service, resource), ...attributes } };
}
