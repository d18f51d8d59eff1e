import { randomInt } from 'node:crypto';
import { arn, LOCAL_ACCOUNT_ID, physicalName, resourceHash, type Stack } from '../assembly/manifest';
import { readJson, writeJson } from '../state';
import type { StackContext } from './context';
import { makeCustomResource } from './custom-resources';
import { makeCluster } from './database';
import type { LocalResource, ResourceRequest } from './deployment';
import { makeFunction } from './functions';

type Made = LocalResource | Promise<LocalResource>;
type Make = (request: ResourceRequest, context: StackContext) => Made;

/** The supported properties, used or without effect here, and the maker. No properties: any are supported. */
type Entry = readonly [properties: string | undefined, make: Make];

/** Attributes that are spelled alike in a template and in SQS's `CreateQueue`. */
const queueAttributes =
  'DelaySeconds MaximumMessageSize MessageRetentionPeriod ReceiveMessageWaitTimeSeconds VisibilityTimeout';

/** What each type of resource is on this machine. */
const table: Readonly<Record<string, Entry>> = {
  'AWS::IAM::Role': [
    'AssumeRolePolicyDocument Description ManagedPolicyArns Policies RoleName Tags',
    ({ logicalId, properties }, { stack, permissions }) => {
      const name = String(properties.RoleName ?? physicalName(stack, logicalId));
      const policies = (properties.Policies ?? []) as readonly { readonly PolicyDocument: unknown }[];
      for (const { PolicyDocument } of policies) {
        permissions.attachToRole(roleArn(name), PolicyDocument, logicalId);
      }
      return { ref: name, attributes: { Arn: roleArn(name) } };
    },
  ],
  'AWS::IAM::Policy': [
    'PolicyDocument PolicyName Roles',
    (request, { stack, permissions }) => {
      const { logicalId, properties } = request;
      for (const name of properties.Roles as readonly string[]) {
        permissions.attachToRole(roleArn(name), properties.PolicyDocument, logicalId);
      }
      return standIn(request, stack);
    },
  ],
  'AWS::Lambda::Permission': [
    'Action FunctionName Principal SourceAccount SourceArn',
    (request, { stack, permissions }) => {
      const { Action, FunctionName, Principal, SourceArn, SourceAccount } = request.properties;
      // https://docs.aws.amazon.com/lambda/latest/dg/access-control-resource-based.html
      const statement = {
        Effect: 'Allow',
        Action,
        Resource: FunctionName,
        Principal: { Service: Principal },
        Condition: {
          ...(SourceArn !== undefined && { ArnLike: { 'aws:SourceArn': SourceArn } }),
          ...(SourceAccount !== undefined && { StringEquals: { 'aws:SourceAccount': SourceAccount } }),
        },
      };
      permissions.attachToResource(String(FunctionName), { Statement: [statement] }, request.logicalId);
      return standIn(request, stack);
    },
  ],
  'AWS::Lambda::Function': [
    `Architectures Code Description Environment FunctionName Handler KmsKeyArn LoggingConfig MemorySize Role Runtime
     Tags Timeout TracingConfig VpcConfig`,
    makeFunction,
  ],
  // Started when all resources are there.
  'AWS::Lambda::EventSourceMapping': [
    'BatchSize Enabled EventSourceArn FunctionName FunctionResponseTypes ScalingConfig Tags',
    (request, { stack }) => standIn(request, stack),
  ],
  'AWS::KMS::Key': [
    'Description EnableKeyRotation Enabled KeyPolicy KeySpec KeyUsage PendingWindowInDays RotationPeriodInDays Tags',
    ({ logicalId, properties }, { stack, folder, permissions, services }) => {
      const { KeySpec = 'SYMMETRIC_DEFAULT', KeyUsage = 'ENCRYPT_DECRYPT', KeyPolicy } = properties;
      const digits = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(resourceHash(stack, logicalId)) ?? [];
      const [, a, b, c, d, e] = digits;
      const keyId = `${a}-${b}-4${c}-8${d}-${e}`;
      const keyArn = arn(stack, 'kms', `key/${keyId}`);
      if (KeyPolicy !== undefined) permissions.attachToResource(keyArn, KeyPolicy, logicalId);
      services.keys.create({
        arn: keyArn,
        directory: folder.keysDirectory,
        name: logicalId,
        keySpec: String(KeySpec),
        keyUsage: String(KeyUsage),
      });
      return { ref: keyId, attributes: { Arn: keyArn, KeyId: keyId } };
    },
  ],
  'AWS::SecretsManager::Secret': [
    'Description GenerateSecretString KmsKeyId Name SecretString Tags',
    makeSecret,
  ],
  // The same secret, for those that need the cluster as well.
  'AWS::SecretsManager::SecretTargetAttachment': [
    'SecretId TargetId TargetType',
    ({ properties }) => ({ ref: String(properties.SecretId), attributes: {} }),
  ],
  // Not encrypted: queues are not stored.
  'AWS::SQS::Queue': [
    `QueueName RedrivePolicy SqsManagedSseEnabled Tags ${queueAttributes}`,
    async ({ logicalId, properties }, { stack, services }) => {
      const name = String(properties.QueueName ?? physicalName(stack, logicalId));
      const { RedrivePolicy } = properties;
      const set = queueAttributes.split(' ').filter((attribute) => properties[attribute] !== undefined);
      const { url, arn } = await services.queues.createQueue({
        name,
        region: stack.region,
        attributes: {
          ...Object.fromEntries(set.map((attribute) => [attribute, String(properties[attribute])])),
          ...(RedrivePolicy !== undefined && { RedrivePolicy: JSON.stringify(RedrivePolicy) }),
        },
      });
      return { ref: url, attributes: { Arn: arn, QueueName: name, QueueUrl: url } };
    },
  ],
  'AWS::SQS::QueuePolicy': [
    'PolicyDocument Queues',
    (request, { stack, permissions }) => {
      const { logicalId, properties } = request;
      for (const url of properties.Queues as readonly string[]) {
        const queueArn = arn(stack, 'sqs', String(url.split('/').at(-1)));
        permissions.attachToResource(queueArn, properties.PolicyDocument, logicalId);
      }
      return standIn(request, stack);
    },
  ],
  'AWS::RDS::DBCluster': [undefined, makeCluster],
  // The source of webhook requests. The reserve, a second address, sends nothing.
  'AWS::EC2::EIP': [
    undefined,
    ({ logicalId }, { stack }) => {
      const addresses = Object.entries(stack.template.Resources).filter(
        ([, { Type }]) => Type === 'AWS::EC2::EIP',
      );
      const address = `127.0.0.${1 + addresses.findIndex(([id]) => id === logicalId)}`;
      const attributes = { PublicIp: address, AllocationId: physicalName(stack, logicalId) };
      return { ref: address, attributes };
    },
  ],
  // Empties the VPC's default security group.
  'Custom::VpcRestrictDefaultSG': [undefined, (request, { stack }) => standIn(request, stack)],
};

/** Types that have no effect on this machine, or are read when all resources are there. */
const standIns =
  /^AWS::((ApiGateway|CloudWatch|EC2|Logs|SNS|WAFv2)::\w+|Events::Rule|RDS::(DBInstance|DBSubnetGroup|DBClusterParameterGroup|GlobalCluster))$/;

/**
 * Makes a resource on this machine.
 *
 * @throws Error that names a type or property that is not supported on this machine
 */
export async function makeResource(request: ResourceRequest, context: StackContext): Promise<LocalResource> {
  const { logicalId, type, properties } = request;
  const refuse = (what: string) => {
    throw new Error(`${context.stack.name}, ${logicalId}: ${what} is not supported on this machine.`);
  };
  const [supported, make] = table[type] ?? [];
  const unsupported =
    supported && Object.keys(properties).find((name) => !supported.split(/\s+/).includes(name));
  if (unsupported) refuse(`${unsupported} of ${type}`);
  if (make) return make(request, context);
  if (type.startsWith('Custom::')) return makeCustomResource(request, context);
  return standIns.test(type) ? standIn(request, context.stack) : refuse(type);
}

/** A name, an ARN, and the attributes that others refer to. */
function standIn(
  { logicalId, type, properties }: ResourceRequest,
  stack: Pick<Stack, 'name' | 'region'>,
): LocalResource {
  const name = physicalName(stack, logicalId);
  const service = type.split('::')[1]?.toLowerCase() ?? type;
  const resource = type === 'AWS::Logs::LogGroup' ? `log-group:${name}:*` : name;
  return {
    ref: type === 'AWS::ApiGateway::Stage' ? String(properties.StageName) : name,
    attributes: {
      Arn: arn(stack, service, resource),
      ...(type === 'AWS::ApiGateway::RestApi' && { RootResourceId: `${name}-root` }),
      ...(type === 'AWS::ApiGateway::DomainName' && { RegionalDomainName: '127.0.0.1' }),
      ...(type === 'AWS::EC2::NatGateway' && { NatGatewayId: name }),
      ...(type === 'AWS::EC2::VPC' && { DefaultSecurityGroup: `${name}-default` }),
    },
  };
}

interface SecretProperties {
  readonly Name?: string;
  /** ARN. */
  readonly KmsKeyId?: string;
  readonly SecretString?: string;
  readonly GenerateSecretString?: {
    readonly SecretStringTemplate?: string;
    readonly GenerateStringKey?: string;
    readonly PasswordLength?: number;
  };
}

/** A generated password has letters and digits only, which no `ExcludeCharacters` of ours excludes. */
function makeSecret(
  { logicalId, properties }: ResourceRequest,
  { stack, folder, services, secrets }: StackContext,
) {
  // Without the stack's name, as CloudFormation does: the Data API takes ARNs of at most 100 characters.
  const {
    Name: name = logicalId,
    KmsKeyId,
    SecretString,
    GenerateSecretString = {},
  } = properties as SecretProperties;
  const { SecretStringTemplate = '{}', GenerateStringKey, PasswordLength = 32 } = GenerateSecretString;
  const secretArn = arn(
    stack,
    'secretsmanager',
    `secret:${name}-${resourceHash(stack, logicalId).slice(0, 6)}`,
  );
  const stored = readJson<Record<string, string>>(folder.secretsFile) ?? {};
  let value = SecretString ?? stored[logicalId];
  if (value === undefined) {
    const alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
    const password = Array.from({ length: PasswordLength }, () => alphabet[randomInt(alphabet.length)]).join(
      '',
    );
    value = GenerateStringKey
      ? JSON.stringify({ ...JSON.parse(SecretStringTemplate), [GenerateStringKey]: password })
      : password;
    writeJson(folder.secretsFile, { ...stored, [logicalId]: value });
  }
  secrets.set(secretArn, value).set(name, value);
  services.secrets.put({ arn: secretArn, name, value, ...(KmsKeyId !== undefined && { keyArn: KmsKeyId }) });
  return { ref: secretArn, attributes: { Id: secretArn } };
}

const roleArn = (name: string): string => `arn:aws:iam::${LOCAL_ACCOUNT_ID}:role/${name}`;
