import type { ResourceValues } from '../assembly/intrinsics';
import type { Stack } from '../assembly/manifest';
import { arn, LOCAL_ACCOUNT_ID, physicalName, resourceHash, resourceUuid } from '../names';
import type { Permissions } from '../permissions/permissions';
import type { Services } from '../services/services';
import type { EnvironmentFolder } from '../state';
import type { ApplyCustomResource } from './custom-resources';
import { type ClusterOptions, provisionCluster } from './database';
import type { LocalResource, Provision, ResourceRequest } from './deployment';
import type { StackFunctions } from './functions';
import { type GenerateSecretString, generateOnce } from './secrets';

export interface TableOptions {
  readonly stack: Pick<Stack, 'name' | 'region' | 'template'>;
  readonly folder: EnvironmentFolder;
  readonly permissions: Permissions;
  readonly services: Services;
  readonly functions: StackFunctions;
  readonly applyCustomResource: ApplyCustomResource;
  readonly cluster: Omit<ClusterOptions, 'stack' | 'secretValue' | 'permissions'>;
}

interface Entry {
  /** Those that are used or may be ignored: any other is refused. @default - any */
  readonly properties?: readonly string[];
  readonly make: Provision;
}

export interface ResourceTable {
  /** @throws Error that names a type or property that is not supported on this machine */
  provision: Provision;
  readonly secret: ResourceValues['secret'];
}

/** Attributes that are spelled alike in a template and in SQS's `CreateQueue`. */
const queueAttributes = [
  'VisibilityTimeout',
  'DelaySeconds',
  'MaximumMessageSize',
  'MessageRetentionPeriod',
  'ReceiveMessageWaitTimeSeconds',
];

/** What is made on this machine of each type of resource. */
export function createTable(options: TableOptions): ResourceTable {
  const { stack, folder, permissions, services, functions, applyCustomResource } = options;
  const nameOf = (logicalId: string) => physicalName(stack, logicalId);
  const roleArn = (name: string) => `arn:aws:iam::${LOCAL_ACCOUNT_ID}:role/${name}`;
  const secrets = new Map<string, string>();
  const addresses = Object.entries(stack.template.Resources).filter(
    ([, { Type }]) => Type === 'AWS::EC2::EIP',
  );

  const table: Readonly<Record<string, Entry>> = {
    'AWS::IAM::Role': {
      properties: [
        'RoleName',
        'Policies',
        'AssumeRolePolicyDocument',
        'Description',
        'ManagedPolicyArns',
        'Tags',
      ],
      async make({ logicalId, properties }) {
        const { RoleName: name = nameOf(logicalId), Policies = [] } = properties as {
          RoleName?: string;
          Policies?: readonly { readonly PolicyDocument: unknown }[];
        };
        for (const { PolicyDocument } of Policies) {
          permissions.attachToRole(roleArn(name), PolicyDocument, logicalId);
        }
        return { ref: name, attributes: { Arn: roleArn(name), RoleId: name } };
      },
    },
    'AWS::IAM::Policy': {
      properties: ['PolicyName', 'PolicyDocument', 'Roles'],
      async make({ logicalId, properties: { Roles, PolicyDocument } }) {
        for (const name of Roles as readonly string[]) {
          permissions.attachToRole(roleArn(name), PolicyDocument, logicalId);
        }
        return { ref: nameOf(logicalId), attributes: {} };
      },
    },
    // https://docs.aws.amazon.com/lambda/latest/dg/access-control-resource-based.html
    'AWS::Lambda::Permission': {
      properties: ['Action', 'FunctionName', 'Principal', 'SourceArn', 'SourceAccount'],
      async make({ logicalId, properties }) {
        const { Action, FunctionName, Principal, SourceArn, SourceAccount } = properties;
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
        permissions.attachToResource(String(FunctionName), { Statement: [statement] }, logicalId);
        return { ref: nameOf(logicalId), attributes: {} };
      },
    },
    'AWS::Lambda::Function': {
      properties: [
        ...[
          'Code',
          'Handler',
          'Environment',
          'Timeout',
          'MemorySize',
          'Role',
          'FunctionName',
          'LoggingConfig',
        ],
        ...['VpcConfig', 'Architectures', 'Description', 'Runtime', 'Tags', 'TracingConfig', 'KmsKeyArn'],
      ],
      make: functions.provision,
    },
    // Started when everything is there.
    'AWS::Lambda::EventSourceMapping': { make: async (request) => standIn(request) },
    'AWS::KMS::Key': {
      properties: [
        ...[
          'KeySpec',
          'KeyUsage',
          'KeyPolicy',
          'Description',
          'EnableKeyRotation',
          'PendingWindowInDays',
          'Tags',
        ],
        ...['RotationPeriodInDays', 'Enabled'],
      ],
      // Made once, and kept.
      async make({ logicalId, properties }) {
        const { KeySpec = 'SYMMETRIC_DEFAULT', KeyUsage = 'ENCRYPT_DECRYPT', KeyPolicy } = properties;
        const keyId = resourceUuid(stack, logicalId);
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
    },
    'AWS::SecretsManager::Secret': {
      properties: ['Name', 'KmsKeyId', 'SecretString', 'GenerateSecretString', 'Description', 'Tags'],
      async make({ logicalId, properties }) {
        const { Name, KmsKeyId, SecretString, GenerateSecretString } = properties as {
          Name?: string;
          /** ARN. */
          KmsKeyId?: string;
          SecretString?: string;
          GenerateSecretString?: GenerateSecretString;
        };
        // Without the stack's name, as CloudFormation does: the Data API takes ARNs of at most 100 characters.
        const name = Name ?? logicalId;
        const suffix = resourceHash(stack, logicalId).slice(0, 6);
        const secretArn = arn(stack, 'secretsmanager', `secret:${name}-${suffix}`);
        const value = SecretString ?? generateOnce(folder.secretsFile, logicalId, GenerateSecretString ?? {});
        secrets.set(secretArn, value).set(name, value);
        const keyArn = KmsKeyId === undefined ? {} : { keyArn: KmsKeyId };
        services.secrets.put({ arn: secretArn, name, value, ...keyArn });
        return { ref: secretArn, attributes: { Id: secretArn } };
      },
    },
    // The secret itself, once it is attached.
    'AWS::SecretsManager::SecretTargetAttachment': {
      async make({ properties }) {
        const id = String(properties.SecretId);
        return { ref: id, attributes: { Id: id } };
      },
    },
    // Without encryption: nothing is stored.
    'AWS::SQS::Queue': {
      properties: ['QueueName', 'RedrivePolicy', 'SqsManagedSseEnabled', 'Tags', ...queueAttributes],
      async make({ logicalId, properties }) {
        const { QueueName = nameOf(logicalId), RedrivePolicy } = properties;
        const name = String(QueueName);
        const attributes = Object.fromEntries([
          ...queueAttributes.flatMap((each) =>
            properties[each] === undefined ? [] : [[each, String(properties[each])]],
          ),
          ...(RedrivePolicy === undefined ? [] : [['RedrivePolicy', JSON.stringify(RedrivePolicy)]]),
        ]);
        const { url, arn: queueArn } = await services.queues.createQueue({
          name,
          region: stack.region,
          attributes,
        });
        return { ref: url, attributes: { Arn: queueArn, QueueName: name, QueueUrl: url } };
      },
    },
    'AWS::SQS::QueuePolicy': {
      async make({ logicalId, properties: { Queues, PolicyDocument } }) {
        for (const url of Queues as readonly string[]) {
          const queueArn = arn(stack, 'sqs', String(url.split('/').at(-1)));
          permissions.attachToResource(queueArn, PolicyDocument, logicalId);
        }
        return { ref: nameOf(logicalId), attributes: {} };
      },
    },
    'AWS::RDS::DBCluster': {
      make: provisionCluster({
        ...options.cluster,
        ...{ stack, permissions },
        secretValue: (secretArn) => secrets.get(secretArn),
      }),
    },
    // Where requests to receivers come from. A second address, the reserve, is this machine too, and sends nothing.
    'AWS::EC2::EIP': {
      async make({ logicalId }) {
        const address = `127.0.0.${1 + addresses.findIndex(([id]) => id === logicalId)}`;
        const attributes = { PublicIp: address, AllocationId: nameOf(logicalId) };
        return { ref: address, attributes };
      },
    },
    // About the default security group of the VPC, which is not made here.
    'Custom::VpcRestrictDefaultSG': { make: async (request) => standIn(request) },
  };

  const customResource: Entry = {
    async make({ logicalId, type, properties: { ServiceToken, ...properties } }) {
      const handler = functions.behindServiceToken(String(ServiceToken));
      const invoke = (event: object) => handler.invoke(event);
      const { physicalId, data } = await applyCustomResource({ logicalId, type, properties, invoke });
      handler.endIdle();
      return { ref: physicalId, attributes: data };
    },
  };

  /** Stands for a resource that this machine does not need: a name, an ARN, and what others may refer to. */
  function standIn({ logicalId, type, properties }: ResourceRequest): LocalResource {
    const name = nameOf(logicalId);
    const service = type.split('::')[1]?.toLowerCase() ?? type;
    const resource = type === 'AWS::Logs::LogGroup' ? `log-group:${name}:*` : name;
    const { ref = name, ...attributes } = valuesOf[type]?.(name, properties) ?? {};
    return { ref, attributes: { Arn: arn(stack, service, resource), ...attributes } };
  }

  return {
    async provision(request) {
      const { logicalId, type, properties } = request;
      const entry = table[type] ?? (type.startsWith('Custom::') ? customResource : undefined);
      if (!entry && !stoodFor.test(type)) {
        throw new Error(`${stack.name}, ${logicalId}: ${type} is not supported on this machine.`);
      }
      if (!entry) return standIn(request);
      const unsupported = Object.keys(properties).find((name) => entry.properties?.includes(name) === false);
      if (unsupported) {
        throw new Error(
          `${stack.name}, ${logicalId}: ${unsupported} of ${type} is not supported on this machine.`,
        );
      }
      return entry.make(request);
    },
    secret(secretId, jsonKey) {
      const value = secrets.get(secretId);
      if (value === undefined || jsonKey === undefined) return value;
      return (JSON.parse(value) as Record<string, string>)[jsonKey];
    },
  };
}

/** Types that have no effect on this machine, or are read when everything is there. */
const stoodFor =
  /^AWS::((ApiGateway|CloudWatch|EC2|Logs|SNS|WAFv2)::\w+|Events::Rule|RDS::(DBInstance|DBSubnetGroup|DBClusterParameterGroup|GlobalCluster))$/;

type Values = (
  name: string,
  properties: ResourceRequest['properties'],
) => { readonly ref?: string; readonly [attribute: string]: string | undefined };

/** Attributes that others refer to. */
const valuesOf: Readonly<Record<string, Values>> = {
  'AWS::EC2::VPC': (name) => ({ DefaultSecurityGroup: `${name}-default` }),
  'AWS::EC2::NatGateway': (name) => ({ NatGatewayId: name }),
  'AWS::ApiGateway::RestApi': (name) => ({ RestApiId: name, RootResourceId: `${name}-root` }),
  'AWS::ApiGateway::Resource': (name) => ({ ResourceId: name }),
  'AWS::ApiGateway::Stage': (_, { StageName }) => ({ ref: String(StageName) }),
  'AWS::ApiGateway::Deployment': (name) => ({ DeploymentId: name }),
  'AWS::ApiGateway::DomainName': () => ({ RegionalDomainName: '127.0.0.1' }),
  'AWS::ApiGateway::Authorizer': (name) => ({ AuthorizerId: name }),
};
