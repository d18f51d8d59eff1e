import type { LocalResource, ResourceRequest } from '../template/stack-deployment';
import { arn, type Home, physicalName } from './names';

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

/** A resource that needs no making on this machine: a name, an ARN, and what `valuesOf` says. */
export function unmade(
  home: Home,
  { logicalId, type }: Pick<ResourceRequest, 'logicalId' | 'type'>,
): LocalResource {
  const name = physicalName(home, logicalId);
  const service = type.split('::')[1]?.toLowerCase() ?? type;
  const { ref = name, ...attributes } = valuesOf[type]?.(name) ?? {};
  return { ref, attributes: { Arn: arn(home, service, name), ...attributes } };
}
