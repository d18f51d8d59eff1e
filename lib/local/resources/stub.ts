import type { LocalResource, ResourceRequest } from '../template/stack-deployment';
import { arn, physicalName, type StackIdentity } from './names';

/** What is sent from this machine to a receiver on it comes from here. */
const loopback = '127.0.0.1';

type Values = (name: string) => { readonly ref?: string; readonly [attribute: string]: string | undefined };

/** Types whose values mean something on this machine, or are referred to by something that is made here. */
const valuesOf: Readonly<Record<string, Values>> = {
  'AWS::EC2::EIP': (name) => ({ ref: loopback, PublicIp: loopback, AllocationId: name }),
  'AWS::EC2::NatGateway': (name) => ({ NatGatewayId: name }),
  'AWS::ApiGateway::RestApi': (name) => ({ RestApiId: name, RootResourceId: `${name}-root` }),
  'AWS::ApiGateway::Resource': (name) => ({ ResourceId: name }),
  'AWS::ApiGateway::Deployment': (name) => ({ DeploymentId: name }),
  'AWS::ApiGateway::DomainName': () => ({ RegionalDomainName: loopback }),
  'AWS::ApiGateway::Authorizer': (name) => ({ AuthorizerId: name }),
};

/** Stands for a resource that this machine does not need: a name, an ARN, and what `valuesOf` says. */
export function stubResource(
  identity: StackIdentity,
  { logicalId, type }: Pick<ResourceRequest, 'logicalId' | 'type'>,
): LocalResource {
  const name = physicalName(identity, logicalId);
  const service = type.split('::')[1]?.toLowerCase() ?? type;
  const { ref = name, ...attributes } = valuesOf[type]?.(name) ?? {};
  return { ref, attributes: { Arn: arn(identity, service, name), ...attributes } };
}
