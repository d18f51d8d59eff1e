import { randomInt } from 'node:crypto';
import { arn, LOCAL_ACCOUNT_ID, physicalName, resourceHash } from '../../assembly/manifest';
import { readJson, writeJson } from '../../state/json';
import { createFunction } from '../lambda/resource';
import { createCluster } from '../rds/resource';
import { createCustomResource } from './custom-resources';
import type { LocalResource, ResourceRequest, StackContext } from './deployment';

type Create = (request: ResourceRequest, context: StackContext) => LocalResource | Promise<LocalResource>;

/** A name and an ARN, for resources without effect locally or read once all resources exist. */
const placeholder: Create = ({ logicalId, type }, { stack }) => {
  const name = physicalName(stack, logicalId);
  return { ref: name, attributes: { Arn: arn(stack, String(type.split('::')[1]).toLowerCase(), name) } };
};

/** Creates each type of resource; lists its supported properties, including those without effect here (`*`: any). */
const table: Readonly<Record<string, readonly [properties: string, create: Create]>> = {
  'AWS::ApiGateway::Authorizer': [
    'AuthorizerResultTtlInSeconds AuthorizerUri IdentitySource Name RestApiId Type',
    placeholder,
  ],
  'AWS::ApiGateway::DomainName': [
    '*',
    ({ logicalId }) => ({ ref: logicalId, attributes: { RegionalDomainName: '127.0.0.1' } }),
  ],
  'AWS::ApiGateway::Method': [
    'AuthorizationType AuthorizerId HttpMethod Integration MethodResponses OperationName ResourceId RestApiId',
    placeholder,
  ],
  'AWS::ApiGateway::RestApi': [
    'Description DisableExecuteApiEndpoint EndpointAccessMode EndpointConfiguration MinimumCompressionSize Name SecurityPolicy Tags',
    (request, context) => {
      const { ref } = placeholder(request, context) as LocalResource;
      return { ref, attributes: { RootResourceId: `${ref}-root` } };
    },
  ],
  'AWS::ApiGateway::Stage': [
    'AccessLogSetting DeploymentId MethodSettings RestApiId StageName Tags',
    ({ properties }) => ({ ref: properties.StageName, attributes: {} }),
  ],
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
    ({ logicalId }) => ({
      ref: logicalId,
      attributes: { DefaultSecurityGroup: `${logicalId}-default` },
    }),
  ],
  'AWS::IAM::Role': [
    'AssumeRolePolicyDocument Description ManagedPolicyArns Policies Tags',
    ({ logicalId, properties }, { stack, permissions }) => {
      const name = physicalName(stack, logicalId);
      for (const { PolicyDocument } of properties.Policies ?? []) {
        permissions.attachToRole(roleArn(name), PolicyDocument, logicalId);
      }
      return { ref: name, attributes: { Arn: roleArn(name) } };
    },
  ],
  'AWS::IAM::Policy': [
    'PolicyDocument PolicyName Roles',
    (request, context) => {
      const { logicalId, properties } = request;
      for (const name of properties.Roles) {
        context.permissions.attachToRole(roleArn(name), properties.PolicyDocument, logicalId);
      }
      return placeholder(request, context);
    },
  ],
  'AWS::KMS::Key': [
    'Description EnableKeyRotation KeyPolicy KeySpec KeyUsage Tags',
    ({ logicalId, properties }, { stack, folder, permissions, services }) => {
      const { KeySpec = 'SYMMETRIC_DEFAULT', KeyUsage = 'ENCRYPT_DECRYPT', KeyPolicy } = properties;
      const keyId = resourceHash(stack, logicalId).replace(
        /^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/,
        '$1-$2-4$3-8$4-$5',
      );
      const keyArn = arn(stack, 'kms', `key/${keyId}`);
      permissions.attachToResource(keyArn, KeyPolicy, logicalId);
      const { keysDirectory: directory } = folder;
      services.keys.create({ arn: keyArn, directory, name: logicalId, keySpec: KeySpec, keyUsage: KeyUsage });
      return { ref: keyId, attributes: { Arn: keyArn, KeyId: keyId } };
    },
  ],
  // Started once all resources exist.
  'AWS::Lambda::EventSourceMapping': [
    'BatchSize Enabled EventSourceArn FunctionName FunctionResponseTypes ScalingConfig Tags',
    placeholder,
  ],
  'AWS::Lambda::Function': [
    'Architectures Code Description Environment Handler LoggingConfig MemorySize Role Runtime Tags Timeout VpcConfig',
    createFunction,
  ],
  'AWS::Lambda::Permission': [
    'Action FunctionName Principal SourceArn',
    (request, context) => {
      const { Action, FunctionName, Principal, SourceArn } = request.properties;
      // https://docs.aws.amazon.com/lambda/latest/dg/access-control-resource-based.html
      const statement = {
        ...{ Effect: 'Allow', Action, Resource: FunctionName, Principal: { Service: Principal } },
        Condition: { ArnLike: { 'aws:SourceArn': SourceArn } },
      };
      context.permissions.attachToResource(FunctionName, { Statement: [statement] }, request.logicalId);
      return placeholder(request, context);
    },
  ],
  'AWS::Logs::LogGroup': [
    '*',
    ({ logicalId }, { stack }) => {
      const name = physicalName(stack, logicalId);
      return { ref: name, attributes: { Arn: arn(stack, 'logs', `log-group:${name}:*`) } };
    },
  ],
  'AWS::RDS::DBCluster': ['*', createCluster],
  // Generated passwords contain only letters and digits, which no `ExcludeCharacters` of ours excludes.
  'AWS::SecretsManager::Secret': [
    'Description GenerateSecretString KmsKeyId Tags',
    ({ logicalId, properties }, { stack, folder, services }) => {
      const {
        SecretStringTemplate,
        GenerateStringKey,
        PasswordLength = 32,
      } = properties.GenerateSecretString;
      const stored = readJson<Record<string, string>>(folder.secretsFile) ?? {};
      let value = stored[logicalId];
      if (value === undefined) {
        const alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
        const letters = Array.from({ length: PasswordLength }, () => alphabet[randomInt(alphabet.length)]);
        value = JSON.stringify({
          ...JSON.parse(SecretStringTemplate),
          [GenerateStringKey]: letters.join(''),
        });
        writeJson(folder.secretsFile, { ...stored, [logicalId]: value });
      }
      // Without the stack's name, as CloudFormation does: the Data API limits ARNs to 100 characters.
      const id = `secret:${logicalId}-${resourceHash(stack, logicalId).slice(0, 6)}`;
      const secretArn = arn(stack, 'secretsmanager', id);
      services.secrets.put({ arn: secretArn, name: logicalId, value, keyArn: properties.KmsKeyId });
      return { ref: secretArn, attributes: { Id: secretArn } };
    },
  ],
  // The same secret, for resources that also depend on the cluster.
  'AWS::SecretsManager::SecretTargetAttachment': [
    'SecretId TargetId TargetType',
    ({ properties }) => ({ ref: properties.SecretId, attributes: {} }),
  ],
  // Not encrypted: queues are not stored.
  'AWS::SQS::Queue': [
    'MaximumMessageSize MessageRetentionPeriod RedrivePolicy SqsManagedSseEnabled Tags VisibilityTimeout',
    ({ logicalId, properties }, { stack, services }) => {
      const name = physicalName(stack, logicalId);
      const { Tags: _, SqsManagedSseEnabled: __, ...attributes } = properties;
      const texts = Object.entries(attributes).map(([attribute, value]) => [
        attribute,
        typeof value === 'object' ? JSON.stringify(value) : String(value),
      ]);
      const options = { name, region: stack.region, attributes: Object.fromEntries(texts) };
      const { url, arn } = services.queues.createQueue(options);
      return { ref: url, attributes: { Arn: arn, QueueName: name, QueueUrl: url } };
    },
  ],
  'AWS::SQS::QueuePolicy': [
    'PolicyDocument Queues',
    (request, context) => {
      const { logicalId, properties } = request;
      for (const url of properties.Queues) {
        const queueArn = arn(context.stack, 'sqs', url.split('/').at(-1));
        context.permissions.attachToResource(queueArn, properties.PolicyDocument, logicalId);
      }
      return placeholder(request, context);
    },
  ],
  // Removes the rules of the VPC's default security group.
  'Custom::VpcRestrictDefaultSG': ['*', placeholder],
};

/** Other types, without effect locally. */
const placeholderTypes =
  /^AWS::((ApiGateway|CloudWatch|EC2|Logs|SNS|WAFv2)::\w+|Events::Rule|RDS::(DBInstance|DBSubnetGroup|DBClusterParameterGroup|GlobalCluster))$/;

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
  const [supported, create] = table[type] ?? ['*', placeholderTypes.test(type) ? placeholder : undefined];
  const names = supported.split(' ');
  const unsupported = Object.keys(properties).find((name) => !names.includes(name) && supported !== '*');
  if (unsupported) refuse(`${unsupported} of ${type}`);
  if (create) return create(request, context);
  return type.startsWith('Custom::') ? createCustomResource(request, context) : refuse(type);
}

const roleArn = (name: string): string => `arn:aws:iam::${LOCAL_ACCOUNT_ID}:role/${name}`;
