import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Stack } from './assembly/manifest';
import type { Cleanup } from './cleanup';
import type { ApiAddresses } from './gateway/addresses';
import { readApi } from './gateway/api';
import type { EventSource } from './lambda/event-source';
import type { Runtime } from './lambda/instance';
import { failed } from './lambda/instance';
import type { Logs } from './logs';
import { arn } from './names';
import type { LocalCertificate } from './network/certificates';
import type { Permissions } from './permissions/permissions';
import type { Postgres } from './postgres/postgres';
import { openCustomResources } from './resources/custom-resources';
import { deployStack } from './resources/deployment';
import { checkRules, startEventSources } from './resources/event-sources';
import { createFunctions } from './resources/functions';
import { createTable } from './resources/table';
import type { Services } from './services/services';
import type { EnvironmentFolder } from './state';

export interface EnvironmentOptions {
  readonly stack: Stack;
  readonly folder: EnvironmentFolder;
  /** Of the stack's APIs. */
  readonly addresses: ApiAddresses;
  /** The dashboards of the other environments on this machine, as the page wants them. */
  readonly otherDashboards: readonly object[];
  /** Shared with no other environment. */
  readonly postgres: Promise<Postgres>;
  readonly certificate: LocalCertificate;
  readonly permissions: Permissions;
  readonly services: Services;
  readonly runtime: Runtime | undefined;
  readonly logs: Logs;
  /** Gets a line for each problem while the environment runs. */
  readonly onProblem: (line: string) => void;
}

/** One environment, running. */
export interface Environment {
  readonly stack: Stack;
  /** The stack's outputs, with this machine's values. */
  readonly outputs: Readonly<Record<string, string>>;
}

/**
 * Runs one environment from its template.
 *
 * @param cleanup gets what ends its APIs (running requests have a second), then its functions and its database endpoint
 * @throws the error of a resource that cannot be made
 */
export async function startEnvironment(options: EnvironmentOptions, cleanup: Cleanup): Promise<Environment> {
  const { stack, addresses, folder, permissions, services, logs, certificate } = options;
  const functions = createFunctions({
    stack,
    runtimeVariables: services.variables,
    ownVariables: {
      DATABASE_CERTIFICATE_AUTHORITIES: certificate.certFile,
      OTHER_DASHBOARDS: JSON.stringify(options.otherDashboards),
    },
    permissions,
    runtime: options.runtime,
    onLog: logs.writeFunction,
  });
  cleanup.add(() => functions.stop());
  services.functions.add(functions.get);
  const { provision, secret } = createTable({
    ...{ stack, folder, permissions, services, functions },
    applyCustomResource: openCustomResources(
      folder.customResourcesFile,
      stack.name,
      arn(stack, 'cloudformation', `stack/${stack.name}/local`),
    ),
    cluster: {
      ...{ certificate, cleanup },
      postgres: options.postgres,
      onRefusal: (reason) => logs.write('database-endpoint', reason),
      register: services.databases.add,
      // What an earlier database knew is wrong then.
      onCreated: () => {
        for (const file of [folder.customResourcesFile, folder.messagesFile]) rmSync(file, { force: true });
      },
    },
  });
  const deployed = await deployStack({ stack, secret, localize: addresses.localize, provision });

  for (const [logicalId, gateway] of addresses.gateways) {
    gateway.serve({
      api: readApi(deployed.resources, logicalId),
      findFunction: (functionArn, sourceArn) => {
        const refusal = permissions.authorizeService('apigateway.amazonaws.com', functionArn, sourceArn);
        if (refusal === undefined) return functions.find(functionArn);
        logs.write('access', refusal);
        return { invoke: async () => failed('AccessDeniedException', refusal) };
      },
      region: stack.region,
    });
  }
  checkRules(deployed, permissions);
  const queueNames = [...deployed.resources.values()]
    .filter(({ type }) => type === 'AWS::SQS::Queue')
    .map(({ attributes }) => String(attributes.QueueName));
  services.queues.restore(folder.messagesFile);
  let eventSources: readonly EventSource[] = [];
  // What runs in the functions is answered before they end: requests and messages have a second.
  cleanup.add(async () => {
    const stopped = Promise.all(eventSources.map((source) => source.stop()));
    await Promise.all([addresses.close(), Promise.race([stopped, sleep(1_000, undefined, { ref: false })])]);
    services.queues.save(folder.messagesFile, queueNames);
  });
  eventSources = startEventSources({
    region: stack.region,
    ...{ deployed, functions, permissions },
    queues: services.queues,
    onProblem: options.onProblem,
  });
  return { stack, outputs: deployed.outputs() };
}
