import { arn, physicalName, resourceHash } from '../../assembly/manifest';
import {
  type LocalResource,
  placeholder,
  type ResourceRequest,
  type ResourceTypes,
  type StackContext,
} from '../resource';
import { startFunction } from './function';

/** https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html#configuration-vpc-permissions */
const networkInterfaceActions = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:UnassignPrivateIpAddresses',
];

function createFunction({ logicalId, properties }: ResourceRequest, context: StackContext): LocalResource {
  const { stack, services, permissions, certificate, logs, runtime, cleanup } = context;
  // https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-lambda-function.html
  const { Code, Handler, Role, LoggingConfig, Environment, Timeout = 3, MemorySize = 128 } = properties;
  const asset = stack.assets.get(Code.S3Key);
  if (!asset) throw new Error(`${logicalId}: only functions with asset code are supported.`);
  const variables: Readonly<Record<string, string>> = Environment?.Variables ?? {};
  const hash = resourceHash(stack, logicalId);
  const accessKey = {
    accessKeyId: `LOCAL${hash.slice(0, 15).toUpperCase()}`,
    secretAccessKey: hash.slice(15, 55),
    sessionToken: 'local',
  };
  const started = startFunction({
    name: physicalName(stack, logicalId),
    region: stack.region,
    bundleDirectory: asset.path,
    handler: Handler,
    variables: {
      ...services.variables,
      AWS_ACCESS_KEY_ID: accessKey.accessKeyId,
      AWS_SECRET_ACCESS_KEY: accessKey.secretAccessKey,
      AWS_SESSION_TOKEN: accessKey.sessionToken,
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
  permissions.addFunction(accessKey, Role);
  cleanup.add(services.functions.add({ ...started, role: Role, variables, bundle: asset.name }));
  return { ref: started.name, attributes: { Arn: started.arn } };
}

export const lambdaResources: ResourceTypes = {
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
        ...{ Effect: 'Allow', Action, Resource: FunctionName, Principal: { Service: Principal } },
        Condition: { ArnLike: { 'aws:SourceArn': SourceArn } },
      };
      context.permissions.attachToResource(FunctionName, { Statement: [statement] }, request.logicalId);
      return placeholder(request, context);
    },
  ],
};
