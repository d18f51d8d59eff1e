import { arn, physicalName } from '../../assembly/manifest';
import { apiGatewayResources } from '../api-gateway/resources';
import { iamResources, type RoleNeeds } from '../iam/resources';
import { type KeyNeeds, kmsResources } from '../kms/resources';
import { type FunctionNeeds, lambdaResources } from '../lambda/resources';
import { type ClusterNeeds, rdsResources } from '../rds/resources';
import { type LocalResource, placeholder, type ResourceRequest, type ResourceTypes } from '../resource';
import { type SecretNeeds, secretsManagerResources } from '../secrets-manager/resources';
import { type QueueNeeds, sqsResources } from '../sqs/resources';
import { type CustomResourceNeeds, createCustomResource } from './custom-resources';

/** What the resources of a stack need, all together. */
export type StackContext = ClusterNeeds &
  CustomResourceNeeds &
  FunctionNeeds &
  KeyNeeds &
  QueueNeeds &
  RoleNeeds &
  SecretNeeds;

const resourceTypes: ResourceTypes<StackContext> = {
  ...apiGatewayResources,
  ...iamResources,
  ...kmsResources,
  ...lambdaResources,
  ...rdsResources,
  ...secretsManagerResources,
  ...sqsResources,
  // The source address of webhook requests. The reserve, a second address, is unused.
  'AWS::EC2::EIP': [
    '*',
    ({ logicalId }, { stack: { template } }) => {
      const { Resources } = template;
      const ids = Object.keys(Resources).filter((id) => Resources[id]?.Type === 'AWS::EC2::EIP');
      const address = `127.0.0.${1 + ids.indexOf(logicalId)}`;
      return { ref: address, attributes: { PublicIp: address, AllocationId: logicalId } };
    },
  ],
  'AWS::EC2::VPC': [
    '*',
    ({ logicalId }) => ({ ref: logicalId, attributes: { DefaultSecurityGroup: `${logicalId}-default` } }),
  ],
  'AWS::Logs::LogGroup': [
    '*',
    ({ logicalId }, { stack }) => {
      const name = physicalName(stack, logicalId);
      return { ref: name, attributes: { Arn: arn(stack, 'logs', `log-group:${name}:*`) } };
    },
  ],
  // Removes the rules of the VPC's default security group.
  'Custom::VpcRestrictDefaultSG': ['*', placeholder],
};

/** Other types, without effect locally. */
const placeholderTypes =
  /^AWS::((ApiGateway|Backup|CloudWatch|EC2|Logs|SNS|WAFv2)::\w+|Events::Rule|RDS::(DBInstance|DBSubnetGroup|DBClusterParameterGroup|GlobalCluster))$/;

/**
 * Creates a local resource.
 *
 * @throws Error naming an unsupported type or property
 */
export async function createResource(
  request: ResourceRequest,
  context: StackContext,
): Promise<LocalResource> {
  const { logicalId, type, properties } = request;
  const refuse = (what: string) => {
    throw new Error(`${context.stack.name}, ${logicalId}: ${what} is not supported on this machine.`);
  };
  const [supported, create] = resourceTypes[type] ?? [
    '*',
    placeholderTypes.test(type) ? placeholder : undefined,
  ];
  const names = supported.split(' ');
  const unsupported = Object.keys(properties).find((name) => !names.includes(name) && supported !== '*');
  if (unsupported) refuse(`${unsupported} of ${type}`);
  if (create) return create(request, context);
  return type.startsWith('Custom::') ? createCustomResource(request, context) : refuse(type);
}
