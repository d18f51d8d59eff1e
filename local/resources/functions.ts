import { arn, physicalName, resourceHash } from '../assembly/manifest';
import { startFunction } from '../lambda/function';
import { requireAllowed, type StackContext } from './context';
import type { LocalResource, ResourceRequest } from './deployment';

interface FunctionProperties {
  readonly Code: { readonly S3Key?: string };
  readonly Handler?: string;
  /** ARN. */
  readonly Role?: string;
  readonly LoggingConfig?: { readonly LogGroup?: string };
  readonly FunctionName?: string;
  readonly Environment?: { readonly Variables?: Readonly<Record<string, string>> };
  readonly Timeout?: number;
  readonly MemorySize?: number;
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

/** `AWS::Lambda::Function` */
export function makeFunction(
  { logicalId, properties }: ResourceRequest,
  context: StackContext,
): LocalResource {
  const { stack, services, permissions, ownVariables } = context;
  const {
    FunctionName: name = physicalName(stack, logicalId),
    // https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-lambda-function.html
    Timeout = 3,
    MemorySize = 128,
    Code,
    Handler,
    Role: role,
    LoggingConfig,
    Environment,
  } = properties as unknown as FunctionProperties;
  const bundleDirectory = stack.assets.get(Code.S3Key ?? '');
  if (!bundleDirectory || !Handler)
    throw new Error(`${logicalId}: only functions whose code is an asset run here.`);
  const variables = Environment?.Variables ?? {};
  const hash = resourceHash(stack, logicalId);
  const accessKey = {
    accessKeyId: `LOCAL${hash.slice(0, 15).toUpperCase()}`,
    secretAccessKey: hash.slice(15, 55),
    sessionToken: 'local',
  };
  const local = startFunction({
    name,
    region: stack.region,
    bundleDirectory,
    handler: Handler,
    environment: {
      ...services.variables,
      AWS_ACCESS_KEY_ID: accessKey.accessKeyId,
      AWS_SECRET_ACCESS_KEY: accessKey.secretAccessKey,
      AWS_SESSION_TOKEN: accessKey.sessionToken,
      ...Object.fromEntries(
        Object.entries(variables).map(([variable, value]) => [
          variable,
          ownVariables[variable] ?? String(value),
        ]),
      ),
    },
    timeoutSeconds: Timeout,
    memoryMiB: MemorySize,
    runtime: context.runtime,
    onLog: (line) => context.logs.writeFunction(logicalId, line),
  });
  if (role !== undefined) {
    const stream = arn(stack, 'logs', `log-group:${LoggingConfig?.LogGroup}:log-stream:local`);
    const logActions = LoggingConfig?.LogGroup ? ['logs:CreateLogStream', 'logs:PutLogEvents'] : [];
    requireAllowed(context, logicalId, role, logActions, stream);
    // Only its presence: the security groups have no value on this machine.
    if ('VpcConfig' in properties) requireAllowed(context, logicalId, role, networkInterfaceActions, '*');
    permissions.addFunction(accessKey, role);
  }
  const made = { ...local, accessKeyId: accessKey.accessKeyId, role, variables };
  context.functions.set(name, made);
  return { ref: name, attributes: { Arn: local.arn } };
}
