import type { Stack } from '../assembly/manifest';
import { type LocalFunction, startFunction } from '../lambda/function';
import type { Runtime } from '../lambda/instance';
import { arn, physicalName, resourceHash } from '../names';
import type { Permissions } from '../permissions/permissions';
import type { Provision } from './deployment';

export interface FunctionSetting {
  readonly stack: Pick<Stack, 'name' | 'region' | 'assets'>;
  /** Variables in the place of those of Lambda's runtime: credentials, and endpoints on this machine. */
  readonly runtimeVariables: Readonly<Record<string, string>>;
  /** Values of this machine, in the place of those of the template where it has the variable. */
  readonly ownVariables: Readonly<Record<string, string>>;
  /** @default - a process for each instance */
  readonly runtime?: Runtime | undefined;
  readonly access: Pick<Permissions, 'addFunction' | 'authorizeRole'>;
  /** Gets each line that a function writes. */
  readonly onLog: (logicalId: string, line: string) => void;
}

/** The functions of a stack. */
export interface StackFunctions {
  readonly provision: Provision;
  /** A function by its ARN or name. */
  get(arnOrName: string): LocalFunction | undefined;
  /** As `get`. @throws Error when there is none */
  find(arnOrName: string): LocalFunction;
  /** Who a function is to the services; without a role, an administrator. */
  identityOf(arnOrName: string): { readonly accessKeyId: string; readonly role: string | undefined };
  /** The `onEvent` function behind a custom resource's service token, an ARN of the CDK's provider framework. */
  behindServiceToken(serviceToken: string): LocalFunction;
  stop(): Promise<void>;
}

interface FunctionProperties {
  readonly Code: { readonly S3Key?: string };
  readonly Handler?: string;
  /** ARN. */
  readonly Role?: string;
  readonly LoggingConfig?: { readonly LogGroup?: string };
  readonly VpcConfig?: object;
  readonly FunctionName?: string;
  readonly Environment?: { readonly Variables?: Readonly<Record<string, string>> };
  readonly Timeout?: number;
  readonly MemorySize?: number;
}

interface Entry {
  readonly local: LocalFunction;
  readonly variables: Readonly<Record<string, string>>;
  readonly accessKeyId: string;
  readonly role: string | undefined;
}

/** Runs the functions of a stack: `AWS::Lambda::Function`. */
export function createFunctions(setting: FunctionSetting): StackFunctions {
  const entries = new Map<string, Entry>();

  const entryAt = (arnOrName: string): Entry | undefined => entries.get(arnOrName.split(':').at(-1) ?? '');

  function entryOf(arnOrName: string): Entry {
    const entry = entryAt(arnOrName);
    if (!entry) throw new Error(`${setting.stack.name} has no function ${arnOrName}.`);
    return entry;
  }

  return {
    async provision({ logicalId, properties }) {
      const functionProperties = properties as unknown as FunctionProperties;
      const { Code, Handler, FunctionName, Environment, Timeout, MemorySize } = functionProperties;
      const bundleDirectory = setting.stack.assets.get(Code.S3Key ?? '');
      if (!bundleDirectory || !Handler) {
        throw new Error(
          `${setting.stack.name}, ${logicalId}: only functions whose code is an asset run here.`,
        );
      }
      const variables = Environment?.Variables ?? {};
      const hash = resourceHash(setting.stack, logicalId);
      const accessKey = {
        accessKeyId: `LOCAL${hash.slice(0, 15).toUpperCase()}`,
        secretAccessKey: hash.slice(15, 55),
        sessionToken: 'local',
      };
      const local = startFunction({
        name: FunctionName ?? physicalName(setting.stack, logicalId),
        region: setting.stack.region,
        bundleDirectory,
        handler: Handler,
        environment: {
          ...setting.runtimeVariables,
          AWS_ACCESS_KEY_ID: accessKey.accessKeyId,
          AWS_SECRET_ACCESS_KEY: accessKey.secretAccessKey,
          AWS_SESSION_TOKEN: accessKey.sessionToken,
          ...Object.fromEntries(
            Object.entries(variables).map(([name, value]) => [
              name,
              setting.ownVariables[name] ?? String(value),
            ]),
          ),
        },
        // Lambda's own defaults: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-lambda-function.html
        timeoutSeconds: Timeout ?? 3,
        memoryMiB: MemorySize ?? 128,
        runtime: setting.runtime,
        onLog: (line) => setting.onLog(logicalId, line),
      });
      const role = requireRole(functionProperties, `${setting.stack.name}, ${logicalId}`, setting);
      if (role !== undefined) {
        setting.access.addFunction(accessKey, { roleArn: role, name: local.name });
      }
      entries.set(local.name, { local, variables, accessKeyId: accessKey.accessKeyId, role });
      return { ref: local.name, attributes: { Arn: local.arn } };
    },
    get: (arnOrName) => entryAt(arnOrName)?.local,
    find: (arnOrName) => entryOf(arnOrName).local,
    identityOf(arnOrName) {
      const { accessKeyId, role } = entryOf(arnOrName);
      return { accessKeyId, role };
    },
    behindServiceToken(serviceToken) {
      const { variables, role } = entryOf(serviceToken);
      if (!variables.USER_ON_EVENT_FUNCTION_ARN || variables.USER_IS_COMPLETE_FUNCTION_ARN) {
        throw new Error(`${serviceToken} is not a provider framework with an onEvent function alone.`);
      }
      const { local } = entryOf(variables.USER_ON_EVENT_FUNCTION_ARN);
      // What the framework calls: aws-cdk-lib/custom-resources, provider-framework/runtime/outbound.
      for (const action of role ? ['lambda:GetFunction', 'lambda:InvokeFunction'] : []) {
        requireAllowed(setting.access.authorizeRole(role ?? '', action, local.arn), serviceToken);
      }
      return local;
    },
    async stop() {
      await Promise.all([...entries.values()].map(({ local }) => local.stop()));
    },
  };
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
const logActions = ['logs:CreateLogStream', 'logs:PutLogEvents'];

/** The ARN of the role. @throws Error when Lambda could not write the function's log, or make its network interfaces */
function requireRole(
  properties: FunctionProperties,
  where: string,
  { stack, access }: FunctionSetting,
): string | undefined {
  const { Role, LoggingConfig } = properties;
  if (Role === undefined) return undefined;
  const stream = arn(stack, 'logs', `log-group:${LoggingConfig?.LogGroup}:log-stream:local`);
  const calls = [
    ...(LoggingConfig?.LogGroup ? logActions.map((action) => [action, stream] as const) : []),
    // Not read: its security groups have no value on this machine.
    ...('VpcConfig' in properties ? networkInterfaceActions.map((action) => [action, '*'] as const) : []),
  ];
  for (const [action, resource] of calls) requireAllowed(access.authorizeRole(Role, action, resource), where);
  return Role;
}

function requireAllowed(refusal: string | undefined, where: string): void {
  if (refusal !== undefined) throw new Error(`${where}: ${refusal}`);
}
