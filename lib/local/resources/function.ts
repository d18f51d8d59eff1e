import { type LocalFunction, startFunction } from '../function-runtime';
import type { Stack } from '../template/assembly';
import type { Provision } from '../template/stack-deployment';
import { physicalName, type StackIdentity } from './names';

export interface FunctionSetting extends StackIdentity {
  readonly assets: Stack['assets'];
  /** Variables that stand for those of Lambda's own runtime: credentials and where AWS is on this machine. */
  readonly runtimeVariables: Readonly<Record<string, string>>;
  /** The certificate authority that takes the place of the one in Lambda's runtime; a file. */
  readonly certificateAuthority: string;
  /** Gets each line that a function writes. */
  readonly onLog: (logicalId: string, line: string) => void;
}

export interface Functions {
  readonly provision: Provision;
  /** A function by its ARN or name. */
  get(arnOrName: string): LocalFunction | undefined;
  /** As `get`. @throws Error when there is none */
  find(arnOrName: string): LocalFunction;
  /** The function that a custom resource's service token leads to, through the CDK's provider framework. */
  behindServiceToken(serviceToken: string): LocalFunction;
  stop(): Promise<void>;
}

/** Where Lambda's runtime has the certificate authorities of RDS. https://docs.aws.amazon.com/lambda/latest/dg/services-rds.html */
const runtimeAuthority = '/var/runtime/ca-cert.pem';

interface FunctionProperties {
  readonly Code: { readonly S3Key?: string };
  readonly Handler?: string;
  readonly FunctionName?: string;
  readonly Environment?: { readonly Variables?: Readonly<Record<string, string>> };
  readonly ReservedConcurrentExecutions?: number;
  readonly Timeout?: number;
  readonly MemorySize?: number;
}

const propertyNames = [
  'Code',
  'Handler',
  'FunctionName',
  'Environment',
  'ReservedConcurrentExecutions',
  'Timeout',
  'MemorySize',
] as const satisfies (keyof FunctionProperties)[];

interface Entry {
  readonly local: LocalFunction;
  readonly variables: Readonly<Record<string, string>>;
}

/** Runs the functions of a stack: `AWS::Lambda::Function`. */
export function createFunctions(setting: FunctionSetting): Functions {
  const entries = new Map<string, Entry>();

  const entryAt = (arnOrName: string): Entry | undefined => entries.get(arnOrName.split(':').at(-1) ?? '');

  function entryOf(arnOrName: string): Entry {
    const entry = entryAt(arnOrName);
    if (!entry) throw new Error(`${setting.stackName} has no function ${arnOrName}.`);
    return entry;
  }

  return {
    async provision({ logicalId, properties }) {
      const { Code, Handler, FunctionName, Environment, ...rest } = properties(
        propertyNames,
      ) as unknown as FunctionProperties;
      const bundleDirectory = setting.assets.get(Code.S3Key ?? '');
      if (!bundleDirectory || !Handler) {
        throw new Error(
          `${setting.stackName}, ${logicalId}: only functions whose code is an asset run here.`,
        );
      }
      const variables = Environment?.Variables ?? {};
      const local = startFunction({
        name: FunctionName ?? physicalName(setting, logicalId),
        region: setting.region,
        bundleDirectory,
        handler: Handler,
        environment: {
          ...setting.runtimeVariables,
          ...localVariables(variables, setting.certificateAuthority),
        },
        // Lambda's own defaults: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-lambda-function.html
        timeoutSeconds: rest.Timeout ?? 3,
        memoryMiB: rest.MemorySize ?? 128,
        ...(rest.ReservedConcurrentExecutions === undefined
          ? {}
          : { reservedConcurrency: rest.ReservedConcurrentExecutions }),
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
    name === 'NODE_EXTRA_CA_CERTS' && value === runtimeAuthority ? authority : String(value),
  ]);
  return Object.fromEntries(entries);
}
