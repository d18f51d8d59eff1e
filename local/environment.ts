import { rmSync } from 'node:fs';
import type { ApiAddresses } from './api-gateway/addresses';
import { readRestApi } from './api-gateway/read-rest-api';
import type { Stack } from './assembly/manifest';
import { Cleanup } from './cleanup';
import { failed } from './function-runtime/result';
import type { Logs } from './logs';
import type { LocalCertificate } from './network/certificates';
import type { Postgres } from './postgres/postgres';
import { openCustomResources } from './resources/custom-resources';
import { provisionDatabaseCluster } from './resources/database-cluster';
import { deployStack, type Provision } from './resources/deployment';
import { createFunctions } from './resources/function';
import { provisionAccess } from './resources/iam';
import { provisionKey } from './resources/key';
import { arn } from './resources/names';
import { provisionQueue } from './resources/queue';
import { openSecrets } from './resources/secrets';
import { stubResource } from './resources/stub';
import type { Services } from './services/services';
import type { EnvironmentFolder } from './state';
import { startTriggers, type Triggers } from './triggers/triggers';

export interface EnvironmentOptions {
  readonly stack: Stack;
  readonly folder: EnvironmentFolder;
  /** Of the stack's APIs; closed when the environment ends. */
  readonly addresses: ApiAddresses;
  /** The dashboards of the other environments on this machine, as the page wants them. */
  readonly otherDashboards: readonly object[];
  /** Shared with no other environment. */
  readonly postgres: Promise<Postgres>;
  readonly certificate: LocalCertificate;
  readonly services: Services;
  readonly logs: Logs;
  /** Gets a line for each problem while the environment runs. */
  readonly onProblem: (line: string) => void;
}

/** One environment, running. */
export interface Environment {
  readonly stack: Stack;
  /** The stack's outputs, with this machine's values. */
  readonly outputs: Readonly<Record<string, string>>;
  /** Ends its APIs (running requests have a second), then its functions and its database endpoint. */
  stop(): Promise<void>;
}

/**
 * Runs one environment from its template.
 *
 * @throws the error of a resource that cannot be made; nothing of the environment is left running then
 */
export async function startEnvironment(options: EnvironmentOptions): Promise<Environment> {
  const cleanup = new Cleanup();
  try {
    return await start(options, cleanup);
  } catch (error) {
    await cleanup.run().catch((also) => options.onProblem(String(also)));
    throw error;
  }
}

async function start(options: EnvironmentOptions, cleanup: Cleanup): Promise<Environment> {
  const { stack, addresses, folder, services, logs, certificate } = options;
  cleanup.add(() => addresses.close());
  const secrets = openSecrets(stack, folder.secretsFile, services.secrets);
  const functions = createFunctions({
    stack,
    runtimeVariables: services.variables,
    ownVariables: {
      DATABASE_CERTIFICATE_AUTHORITIES: certificate.caFile,
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
      certificate,
      access: services.access,
      onRefusal: (reason) => logs.write('database-endpoint', reason),
      register: services.databases.add,
      onCreated: () => rmSync(folder.customResourcesFile, { force: true }),
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
        ? async ({ logicalId, properties: { ServiceToken, ...properties } }) => {
            const handler = functions.behindServiceToken(String(ServiceToken));
            const { physicalId, data } = await customResources.apply({
              logicalId,
              type,
              properties,
              invoke: (event) => handler.invoke(event),
            });
            return { ref: physicalId, attributes: data };
          }
        : async (request) => stubResource(stack, request)),
  });

  const resolved = Object.fromEntries(
    [...deployed.resources].map(([id, { type: Type, properties: Properties }]) => [id, { Type, Properties }]),
  );
  for (const [logicalId, gateway] of addresses.gateways) {
    gateway.serve({
      restApi: readRestApi(resolved, logicalId, (id) => deployed.resources.get(id)?.ref ?? id),
      findFunction: (functionArn, sourceArn) => {
        const refusal = services.access.authorizeService('apigateway.amazonaws.com', functionArn, sourceArn);
        if (refusal === undefined) return functions.find(functionArn);
        logs.write('access', refusal);
        return { invoke: async () => failed('AccessDeniedException', refusal) };
      },
      region: stack.region,
    });
  }
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
  return { stack, outputs: deployed.outputs(), stop: () => cleanup.run() };
}
