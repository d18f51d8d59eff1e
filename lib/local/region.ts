import type { Environment } from '../environment/environment';
import { type ApiAddresses, openApiAddresses } from './api-gateway/addresses';
import { readRestApi } from './api-gateway/read-rest-api';
import { Cleanup, startOrUndo } from './cleanup';
import type { Logs } from './logs';
import type { LocalCertificate } from './network/certificates';
import type { Postgres } from './postgres/postgres';
import { provisionDatabaseCluster } from './resources/database-cluster';
import { createFunctions, type Functions } from './resources/function';
import { provisionKey } from './resources/key';
import { arn } from './resources/names';
import { provisionQueue } from './resources/queue';
import { openSecrets } from './resources/secrets';
import { stubResource } from './resources/stub';
import { functionCredentials, type Services } from './services/services';
import { type EnvironmentFolder, removeFile } from './state/state';
import type { Stack } from './template/assembly';
import { type CustomResources, openCustomResources } from './template/custom-resources';
import { type DeployedStack, deployStack, type Provision } from './template/stack-deployment';
import { startTriggers, type Triggers } from './triggers/triggers';

export interface RegionOptions {
  readonly environment: Environment;
  readonly stack: Stack;
  readonly folder: EnvironmentFolder;
  /** Ports of the REST APIs, by the name of their stage; 0 takes any free one. */
  readonly ports: Readonly<Record<string, number>>;
  /** This environment's own, shared with no other. */
  readonly postgres: Promise<Postgres>;
  readonly certificate: LocalCertificate;
  readonly services: Services;
  readonly logs: Logs;
  /** Gets a line about something that went wrong while the environment runs. */
  readonly onProblem: (line: string) => void;
}

/** One environment, running. */
export interface Region {
  readonly environment: Environment;
  readonly baseUrl: string;
  readonly dashboardUrl: string;
  /** The stack's outputs, with this machine's values. */
  readonly outputs: Readonly<Record<string, string>>;
  readonly functions: Pick<Functions, 'find'>;
  /** Ends its APIs, giving running requests a second, then its functions and the way to its database. */
  stop(): Promise<void>;
}

/**
 * Runs one environment from its template.
 *
 * @throws whatever keeps a resource from being made; nothing of the environment is left running then
 */
export async function startRegion(options: RegionOptions): Promise<Region> {
  const cleanup = new Cleanup();
  return startOrUndo(cleanup, () => start(options, cleanup), options.onProblem);
}

async function start(options: RegionOptions, cleanup: Cleanup): Promise<Region> {
  const { environment, stack, folder, services, logs } = options;
  const identity = { stackName: stack.name, region: stack.region };
  const addresses = await openApiAddresses(stack, options.ports);
  cleanup.add(() => addresses.close());
  const secrets = openSecrets(identity, folder.secretsFile, services.secrets);
  const functions = createFunctions({
    ...identity,
    assets: stack.assets,
    runtimeVariables: { ...functionCredentials, ...services.variables },
    certificateAuthority: options.certificate.caFile,
    onLog: logs.writeFunction,
  });
  cleanup.add(() => functions.stop());
  services.functions.add(functions);

  const made: Readonly<Record<string, Provision>> = {
    'AWS::KMS::Key': provisionKey(identity, folder.keysDirectory, services.keys),
    'AWS::SecretsManager::Secret': secrets.provision,
    'AWS::SecretsManager::SecretTargetAttachment': secrets.provisionAttachment,
    'AWS::RDS::DBCluster': provisionDatabaseCluster({
      identity,
      secrets,
      postgres: options.postgres,
      certificate: options.certificate,
      credentials: functionCredentials,
      onRefusal: (reason) => logs.write('database-endpoint', reason),
      register: services.databases.add,
      onCreated: () => removeFile(folder.customResourcesFile),
      cleanup,
    }),
    'AWS::SQS::Queue': provisionQueue(identity, services.queues),
    'AWS::Lambda::Function': functions.provision,
  };
  const custom = onFirstUse(() =>
    openCustomResources({
      file: folder.customResourcesFile,
      stackName: stack.name,
      stackId: arn(identity, 'cloudformation', `stack/${stack.name}/local`),
    }),
  );
  const deployed = await deployStack({
    stack,
    secret: secrets.resolve,
    provisionOf: (type) =>
      withLocalAddresses(
        addresses,
        made[type] ??
          (type.startsWith('Custom::') && !notForThisMachine.has(type)
            ? provisionCustomResource(custom, functions)
            : async (request) => stubResource(identity, request)),
      ),
  });

  serveApis(options, addresses, deployed, functions);
  let triggers: Triggers | undefined;
  // What runs in the functions is answered before they end.
  cleanup.add(async () => void (await Promise.all([addresses.close(), triggers?.stop()])));
  triggers = startTriggers({
    stack,
    deployed,
    functions,
    queues: services.queues,
    onProblem: options.onProblem,
  });
  const outputs = addresses.localize(deployed.outputs());
  const { ApiBaseUrl: baseUrl = '', DashboardUrl: dashboardUrl = '' } = outputs;
  return {
    environment,
    baseUrl,
    dashboardUrl,
    outputs,
    functions,
    stop: () => cleanup.run(),
  };
}

/** Resources may be told of the addresses of the APIs; on this machine they are others. */
function withLocalAddresses({ localize }: ApiAddresses, provision: Provision): Provision {
  return (request) => provision({ ...request, properties: (names) => localize(request.properties(names)) });
}

/** Custom resources about things that are not made here: the default security group of the VPC. */
const notForThisMachine = new Set(['Custom::VpcRestrictDefaultSG']);

function provisionCustomResource(custom: () => CustomResources, functions: Functions): Provision {
  return async ({ logicalId, type, properties }) => {
    const { ServiceToken, ...own } = properties();
    const handler = functions.behindServiceToken(String(ServiceToken));
    const resource = await custom().apply({
      logicalId,
      type,
      properties: own,
      invoke: (event) => handler.invoke(event),
    });
    return { ref: resource.physicalId, attributes: resource.data };
  };
}

function serveApis(
  { stack: { template, region } }: RegionOptions,
  { gateways, localize }: ApiAddresses,
  deployed: DeployedStack,
  functions: Functions,
): void {
  const parts = [...deployed.resources.keys()]
    .map((id) => [id, template.Resources[id]] as const)
    .flatMap(([id, resource]) => {
      if (!resource?.Type.startsWith('AWS::ApiGateway::')) return [];
      const Properties = deployed.resolver.resolve(resource.Properties ?? {}, `Resources.${id}.Properties`);
      return [
        [id, { Type: resource.Type, Properties: localize(Properties as Record<string, unknown>) }] as const,
      ];
    });
  for (const [logicalId, gateway] of gateways) {
    gateway.serve({
      restApi: readRestApi(
        Object.fromEntries(parts),
        logicalId,
        (id) => deployed.resources.get(id)?.ref ?? id,
      ),
      findFunction: functions.find,
      region,
    });
  }
}

function onFirstUse<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
