import type { OtherDashboard } from '../dashboard/facts';
import type { Environment } from '../lib/environment/environment';
import type { ApiAddresses } from './api-gateway/addresses';
import type { FindFunction } from './api-gateway/lambda-proxy';
import { readRestApi } from './api-gateway/read-rest-api';
import { Cleanup, startOrUndo } from './cleanup';
import { failed } from './function-runtime/result';
import type { Logs } from './logs';
import type { LocalCertificate } from './network/certificates';
import type { Postgres } from './postgres/postgres';
import { provisionDatabaseCluster } from './resources/database-cluster';
import { createFunctions, type StackFunctions } from './resources/function';
import { provisionAccess } from './resources/iam';
import { provisionKey } from './resources/key';
import { arn } from './resources/names';
import { provisionQueue } from './resources/queue';
import { openSecrets } from './resources/secrets';
import { stubResource } from './resources/stub';
import type { Services } from './services/services';
import { type EnvironmentFolder, removeFile } from './state/state';
import type { Stack } from './template/assembly';
import { type CustomResources, openCustomResources } from './template/custom-resources';
import { type DeployedStack, deployStack, type Provision } from './template/stack-deployment';
import { startTriggers, type Triggers } from './triggers/triggers';

export interface RegionOptions {
  readonly environment: Environment;
  readonly stack: Stack;
  readonly folder: EnvironmentFolder;
  /** Of the stack's APIs; closed when the environment ends. */
  readonly addresses: ApiAddresses;
  /** The dashboards of the other environments on this machine. */
  readonly otherDashboards: readonly OtherDashboard[];
  /** Shared with no other environment. */
  readonly postgres: Promise<Postgres>;
  readonly certificate: LocalCertificate;
  readonly services: Services;
  readonly logs: Logs;
  /** Gets a line for each problem while the environment runs. */
  readonly onProblem: (line: string) => void;
}

/** One environment, running. */
export interface Region {
  readonly environment: Environment;
  readonly baseUrl: string;
  readonly dashboardUrl: string;
  /** The stack's outputs, with this machine's values. */
  readonly outputs: Readonly<Record<string, string>>;
  readonly functions: Pick<StackFunctions, 'find'>;
  /** Ends its APIs (running requests have a second), then its functions and its database endpoint. */
  stop(): Promise<void>;
}

/**
 * Runs one environment from its template.
 *
 * @throws the error of a resource that cannot be made; nothing of the environment is left running then
 */
export async function startRegion(options: RegionOptions): Promise<Region> {
  const cleanup = new Cleanup();
  return startOrUndo(cleanup, () => start(options, cleanup), options.onProblem);
}

async function start(options: RegionOptions, cleanup: Cleanup): Promise<Region> {
  const { environment, stack, addresses, folder, services, logs } = options;
  cleanup.add(() => addresses.close());
  const secrets = openSecrets(stack, folder.secretsFile, services.secrets);
  const functions = createFunctions({
    stack,
    runtimeVariables: services.variables,
    ownVariables: {
      DATABASE_CERTIFICATE_AUTHORITIES: options.certificate.caFile,
      OTHER_DASHBOARDS: JSON.stringify(options.otherDashboards),
    },
    access: services.access,
    onLog: logs.writeFunction,
  });
  cleanup.add(() => functions.stop());
  services.functions.add(functions);
  const customResources = openCustomResources({
    file: folder.customResourcesFile,
    stackName: stack.name,
    stackId: arn(stack, 'cloudformation', `stack/${stack.name}/local`),
  });

  const provisions: Readonly<Record<string, Provision>> = {
    ...provisionAccess(stack, services.access),
    'AWS::KMS::Key': provisionKey(stack, folder.keysDirectory, services),
    'AWS::SecretsManager::Secret': secrets.provision,
    'AWS::SecretsManager::SecretTargetAttachment': secrets.provisionAttachment,
    'AWS::RDS::DBCluster': provisionDatabaseCluster({
      stack,
      secrets,
      postgres: options.postgres,
      certificate: options.certificate,
      access: services.access,
      onRefusal: (reason) => logs.write('database-endpoint', reason),
      register: services.databases.add,
      onCreated: () => removeFile(folder.customResourcesFile),
      cleanup,
    }),
    'AWS::SQS::Queue': provisionQueue(stack, services.queues),
    'AWS::Lambda::Function': functions.provision,
    // About the default security group of the VPC, which is not made here.
    'Custom::VpcRestrictDefaultSG': async (request) => stubResource(stack, request),
  };
  const deployed = await deployStack({
    stack,
    secret: secrets.resolve,
    localize: addresses.localize,
    provisionOf: (type) =>
      provisions[type] ??
      (type.startsWith('Custom::')
        ? provisionCustomResource(customResources, functions)
        : async (request) => stubResource(stack, request)),
  });

  serveApis(stack, addresses, deployed, (functionArn, sourceArn) => {
    const refusal = services.access.authorizeService('apigateway.amazonaws.com', functionArn, sourceArn);
    if (refusal === undefined) return functions.find(functionArn);
    logs.write('access', refusal);
    return { invoke: async () => failed('AccessDeniedException', refusal) };
  });
  let triggers: Triggers | undefined;
  // What runs in the functions is answered before they end.
  cleanup.add(() => Promise.all([addresses.close(), triggers?.stop()]));
  triggers = startTriggers({
    stack,
    deployed,
    functions,
    access: services.access,
    queues: services.queues,
    onProblem: options.onProblem,
  });
  const outputs = deployed.outputs();
  const { ApiBaseUrl: baseUrl = '', DashboardUrl: dashboardUrl = '' } = outputs;
  return { environment, baseUrl, dashboardUrl, outputs, functions, stop: () => cleanup.run() };
}

function provisionCustomResource(customResources: CustomResources, functions: StackFunctions): Provision {
  return async ({ logicalId, type, properties: { ServiceToken, ...properties } }) => {
    const handler = functions.behindServiceToken(String(ServiceToken));
    const { physicalId, data } = await customResources.apply({
      logicalId,
      type,
      properties,
      invoke: (event) => handler.invoke(event),
    });
    return { ref: physicalId, attributes: data };
  };
}

function serveApis(
  { region }: Stack,
  { gateways }: ApiAddresses,
  { resources }: DeployedStack,
  findFunction: FindFunction,
): void {
  const resolved = Object.fromEntries(
    [...resources].map(([id, { type: Type, properties: Properties }]) => [id, { Type, Properties }]),
  );
  for (const [logicalId, gateway] of gateways) {
    gateway.serve({
      restApi: readRestApi(resolved, logicalId, (id) => resources.get(id)?.ref ?? id),
      findFunction,
      region,
    });
  }
}
