import { type LocalFunction, startFunction } from '../function-runtime';
import type { Stack } from '../template/assembly';
import type { Provision } from '../template/stack-deployment';
import { physicalName } from './names';

export interface FunctionSetting {
  readonly stack: Pick<Stack, 'name' | 'region' | 'assets'>;
  /** Variables in the place of those of Lambda's runtime: credentials, and endpoints on this machine. */
  readonly runtimeVariables: Readonly<Record<string, string>>;
  /** A file, in the place of RDS's certificate authorities. */
  readonly certificateAuthority: string;
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
  /** The `onEvent` function behind a custom resource's service token, an ARN of the CDK's provider framework. */
  behindServiceToken(serviceToken: string): LocalFunction;
  stop(): Promise<void>;
}

interface FunctionProperties {
  readonly Code: { readonly S3Key?: string };
  readonly Handler?: string;
  readonly FunctionName?: string;
  readonly Environment?: { readonly Variables?: Readonly<Record<string, string>> };
  readonly ReservedConcurrentExecutions?: number;
  readonly Timeout?: number;
  readonly MemorySize?: number;
}

interface Entry {
  readonly local: LocalFunction;
  readonly variables: Readonly<Record<string, string>>;
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
      const { Code, Handler, FunctionName, Environment, ReservedConcurrentExecutions, Timeout, MemorySize } =
        properties as unknown as FunctionProperties;
      const bundleDirectory = setting.stack.assets.get(Code.S3Key ?? '');
      if (!bundleDirectory || !Handler) {
        throw new Error(
          `${setting.stack.name}, ${logicalId}: only functions whose code is an asset run here.`,
        );
      }
      const variables = Environment?.Variables ?? {};
      const local = startFunction({
        name: FunctionName ?? physicalName(setting.stack, logicalId),
        region: setting.stack.region,
        bundleDirectory,
        handler: Handler,
        environment: {
          ...setting.runtimeVariables,
          ...localVariables(variables, setting.certificateAuthority),
        },
        // Lambda's own defaults: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-lambda-function.html
        timeoutSeconds: Timeout ?? 3,
        memoryMiB: MemorySize ?? 128,
        ...(ReservedConcurrentExecutions !== undefined && {
          reservedConcurrency: ReservedConcurrentExecutions,
        }),
        onLog: (line) => setting.onLog(logicalId, line),
      });
      entries.set(local.name, { local, variables });
      return { ref: local.name, attributes: { Arn: local.arn } };
    },
    get: (arnOrName) => entryAt(arnOrName)?.local,
    find: (arnOrName) => entryOf(arnOrName).local,
    behindServiceToken(serviceToken) {
      const { variables } = entryOf(serviceToken);
      if (!variables.USER_ON_EVENT_FUNCTION_ARN || variables.USER_IS_COMPLETE_FUNCTION_ARN) {
        throw new Error(`${serviceToken} is not a provider framework with an onEvent function alone.`);
      }
      return entryOf(variables.USER_ON_EVENT_FUNCTION_ARN).local;
    },
    async stop() {
      await Promise.all([...entries.values()].map(({ local }) => local.stop()));
    },
  };
}

function localVariables(
  variables: Readonly<Record<string, string>>,
  authority: string,
): Record<string, string> {
  const entries = Object.entries(variables).map(([name, value]) => [
    name,
    name === 'DATABASE_CERTIFICATE_AUTHORITIES' ? authority : String(value),
  ]);
  return Object.fromEntries(entries);
}
