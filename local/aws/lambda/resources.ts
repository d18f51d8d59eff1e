import { arn, physicalName, resourceHash } from '../../assembly/manifest';
import type { Cleanup } from '../../shared/cleanup';
import type { Logs } from '../../shared/logs';
import type { Permissions } from '../iam/permissions';
import {
  type LocalResource,
  placeholder,
  type ResourceRequest,
  type ResourceTypes,
  type StackParts,
} from '../resource';
import { type StackFunctions, startFunction } from './function';
import type { Runtime } from './instance';

export interface FunctionNeeds extends StackParts {
  readonly permissions: Pick<Permissions, 'addFunction' | 'attachToResource' | 'requireRole'>;
  readonly functions: Pick<StackFunctions, 'add'>;
  /** Added to those of every function. */
  readonly variables: Readonly<Record<string, string>>;
  /** Of the database's endpoint. */
  readonly certificate: { readonly certFile: string };
  readonly logs: Pick<Logs, 'writeFunction'>;
  /** @default - a process for each instance of a function */
  readonly runtime: Runtime | undefined;
  readonly cleanup: Cleanup;
}

/** https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html#configuration-vpc-permissions */
const networkInterfaceActions = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:UnassignPrivateIpAddresses',
];

function createFunction({ logicalId, properties }: ResourceRequest, needs: FunctionNeeds): LocalResource {
  const { stack, functions, permissions, certificate, logs, runtime, cleanup } = needs;
  // https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-lambda-function.html
  const { Code, Handler, Role, LoggingConfig, Environment, Timeout = 3, MemorySize = 128 } = properties;
  const asset = stack.assets.get(Code.S3Key);
  if (!asset) throw new Error(`${logicalId}: only functions with asset code are supported.`);
  const variables: Readonly<Record<string, string>> = Environment?.Variables ?? {};
  const hash = resourceHash(stack, logicalId);
  const accessKeyId = `LOCAL${hash.slice(0, 15).toUpperCase()}`;
  const started = startFunction({
    name: physicalName(stack, logicalId),
    region: stack.region,
    bundleDirectory: asset,
    handler: Handler,
    variables: {
      ...needs.variables,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_SESSION_TOKEN: 'local',
      ...Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, String(value)])),
      ...('DATABASE_CERTIFICATE_AUTHORITIES' in variables && {
        DATABASE_CERTIFICATE_AUTHORITIES: certificate.certFile,
      }),
    },
    timeoutSeconds: Timeout,
    memoryMiB: MemorySize,
    runtime,
    onLog: (line) => logs.writeFunction(logicalId, line),
  });
  cleanup.add(() => started.stop());
  if (LoggingConfig) {
    const stream = arn(stack, 'logs', `log-group:${LoggingConfig.LogGroup}:log-stream:local`);
    permissions.requireRole(logicalId, Role, ['logs:CreateLogStream', 'logs:PutLogEvents'], stream);
  }
  // Checks only its presence: security groups do not exist locally.
  if ('VpcConfig' in properties) permissions.requireRole(logicalId, Role, networkInterfaceActions, '*');
  permissions.addFunction(accessKeyId, Role);
  functions.add({ ...started, role: Role, variables });
  return { ref: started.name, attributes: { Arn: started.arn } };
}

export const lambdaResources: ResourceTypes<FunctionNeeds> = {
  'AWS::Lambda::Function': [
    'Architectures Code Description Environment Handler LoggingConfig MemorySize Role Runtime Tags Timeout VpcConfig',
    createFunction,
  ],
  // Started once all resources exist.
  'AWS::Lambda::EventSourceMapping': [
    'BatchSize Enabled EventSourceArn FunctionName FunctionResponseTypes ScalingConfig Tags',
    placeholder,
  ],
  'AWS::Lambda::Permission': [
    'Action FunctionName Principal SourceArn',
    (request, context) => {
      const { Action, FunctionName, Principal, SourceArn } = request.properties;
      // https://docs.aws.amazon.com/lambda/latest/dg/access-control-resource-based.html
      const statement = {
        Effect: 'Allow',
        Action,
        Resource: FunctionName,
        Principal: { Service: Principal },
        Condition: { ArnLike: { 'aws:SourceArn': SourceArn } },
      };
      context.permissions.attachToResource(FunctionName, { Statement: [statement] }, request.logicalId);
      return placeholder(request, context);
    },
  ],
};
