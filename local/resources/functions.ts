import type { Stack } from '../assembly/manifest';
import { type LocalFunction, startFunction } from '../lambda/function';
import type { Runtime } from '../lambda/instance';
import { arn, physicalName, resourceHash } from '../names';
import type { Permissions } from '../permissions/permissions';
import type { Provision } from './deployment';

export interface FunctionsOptions {
  readonly stack: Pick<Stack, 'name' | 'region' | 'assets'>;
  /** Variables in the place of those of Lambda's runtime: credentials, and endpoints on this machine. */
  readonly runtimeVariables: Readonly<Record<string, string>>;
  /** Values of this machine, in the place of those of the template where it has the variable. */
  readonly ownVariables: Readonly<Record<string, string>>;
  /** @default - a process for each instance */
  readonly runtime?: Runtime | undefined;
  readonly permissions: Pick<Permissions, 'addFunction' | 'authorizeRole'>;
  /** Gets each line that a function writes. */
  readonly onLog: (logicalId: string, line: string) => void;
}

/** A function of a stack. */
export interface StackFunction extends LocalFunction {
  /** Who it is to the services; without a role, an administrator. */
  readonly accessKeyId: string;
  /** ARN. */
  readonly role: string | undefined;
  /** Those of the template. */
  readonly variables: Readonly<Record<string, string>>;
}

/** The functions of a stack. */
export interface StackFunctions {
  /** Makes `AWS::Lambda::Function`. */
  readonly provision: Provision;
  /** A function by its ARN or name. */
  get(arnOrName: string): StackFunction | undefined;
  /** As `get`. @throws Error when there is none */
  find(arnOrName: string): StackFunction;
  /** The `onEvent` function behind a custom resource's service token, an ARN of the CDK's provider framework. */
  behindServiceToken(serviceToken: string): StackFunction;
  stop(): Promise<void>;
}

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

const logActions = ['logs:CreateLogStream', 'logs:PutLogEvents'];
/** https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html#configuration-vpc-permissions */
const networkInterfaceActions = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:UnassignPrivateIpAddresses',
];

/** Runs the functions of a stack. */
export function createFunctions(options: FunctionsOptions): StackFunctions {
  const { stack, permissions, ownVariables } = options;
  const functions = new Map<string, StackFunction>();

  const get = (arnOrName: string) => functions.get(arnOrName.split(':').at(-1) ?? '');

  function find(arnOrName: string): StackFunction {
    const found = get(arnOrName);
    if (!found) throw new Error(`${stack.name} has no function ${arnOrName}.`);
    return found;
  }

  /** @throws Error when Lambda, or the provider framework, could not do its part with the role */
  function requireAllowed(role: string, actions: readonly string[], resource: string, where: string): void {
    for (const action of actions) {
      const refusal = permissions.authorizeRole(role, action, resource);
      if (refusal !== undefined) throw new Error(`${stack.name}, ${where}: ${refusal}`);
    }
  }

  return {
    get,
    find,
    async provision({ logicalId, properties }) {
      const { Code, Handler, Role, LoggingConfig, FunctionName, Environment, Timeout, MemorySize } =
        properties as unknown as FunctionProperties;
      const bundleDirectory = stack.assets.get(Code.S3Key ?? '');
      if (!bundleDirectory || !Handler) {
        throw new Error(`${stack.name}, ${logicalId}: only functions whose code is an asset run here.`);
      }
      const variables = Environment?.Variables ?? {};
      const hash = resourceHash(stack, logicalId);
      const accessKeyId = `LOCAL${hash.slice(0, 15).toUpperCase()}`;
      const secretAccessKey = hash.slice(15, 55);
      const local = startFunction({
        name: FunctionName ?? physicalName(stack, logicalId),
        region: stack.region,
        bundleDirectory,
        handler: Handler,
        environment: {
          ...options.runtimeVariables,
          AWS_ACCESS_KEY_ID: accessKeyId,
          AWS_SECRET_ACCESS_KEY: secretAccessKey,
          AWS_SESSION_TOKEN: 'local',
          ...Object.fromEntries(
            Object.entries(variables).map(([name, value]) => [name, ownVariables[name] ?? String(value)]),
          ),
        },
        // Lambda's own defaults: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-lambda-function.html
        timeoutSeconds: Timeout ?? 3,
        memoryMiB: MemorySize ?? 128,
        runtime: options.runtime,
        onLog: (line) => options.onLog(logicalId, line),
      });
      if (Role !== undefined) {
        const stream = arn(stack, 'logs', `log-group:${LoggingConfig?.LogGroup}:log-stream:local`);
        if (LoggingConfig?.LogGroup) requireAllowed(Role, logActions, stream, logicalId);
        // Not read: its security groups have no value on this machine.
        if ('VpcConfig' in properties) requireAllowed(Role, networkInterfaceActions, '*', logicalId);
        const accessKey = { accessKeyId, secretAccessKey, sessionToken: 'local' };
        permissions.addFunction(accessKey, Role);
      }
      functions.set(local.name, { ...local, accessKeyId, role: Role, variables });
      return { ref: local.name, attributes: { Arn: local.arn } };
    },
    behindServiceToken(serviceToken) {
      const { variables, role } = find(serviceToken);
      if (!variables.USER_ON_EVENT_FUNCTION_ARN || variables.USER_IS_COMPLETE_FUNCTION_ARN) {
        throw new Error(`${serviceToken} is not a provider framework with an onEvent function alone.`);
      }
      const onEvent = find(variables.USER_ON_EVENT_FUNCTION_ARN);
      // What the framework calls: aws-cdk-lib/custom-resources, provider-framework/runtime/outbound.
      if (role) {
        requireAllowed(role, ['lambda:GetFunction', 'lambda:InvokeFunction'], onEvent.arn, serviceToken);
      }
      return onEvent;
    },
    async stop() {
      await Promise.all([...functions.values()].map((each) => each.stop()));
    },
  };
}
