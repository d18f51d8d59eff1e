import { mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Stack } from './assembly/manifest';
import { readApi } from './aws/api-gateway/api';
import { openApis } from './aws/api-gateway/gateway';
import { deployStack } from './aws/cloudformation/deployment';
import { createResource } from './aws/cloudformation/resource-types';
import type { Permissions } from './aws/iam/permissions';
import { adoptKeys } from './aws/kms/resources';
import { startEventSources } from './aws/lambda/event-sources';
import { failed, type Runtime } from './aws/lambda/instance';
import type { LocalCertificate } from './aws/rds/certificate';
import type { Services } from './aws/services';
import { provideDatabaseFolder } from './database-folder';
import { startPostgres } from './postgres/postgres';
import type { Cleanup } from './shared/cleanup';
import { openLogs } from './shared/logs';
import { StartError } from './shared/start-error';
import type { State } from './state/lock';

/** What the environments of one start share. */
export interface Shared {
  readonly state: State;
  /** Progress, and problems of running environments, such as an error that a function logged. */
  readonly log: { step(line: string): void; problem(line: string): void };
  /** Aborts the start. */
  readonly signal: AbortSignal;
  /** Called if an environment cannot go on: its PostgreSQL has exited, or a log cannot be written. */
  readonly onFailure: (error: Error) => void;
  readonly certificate: Promise<LocalCertificate>;
  readonly services: Promise<Services>;
  readonly runtime?: Runtime | undefined;
}

/** Its folder, logs and PostgreSQL. */
export type Opened = ReturnType<typeof openEnvironment>;

interface Own extends Opened {
  readonly permissions: Permissions;
  /** Returns the port for an API's stage; 0: any free one. */
  readonly portOf: (stageName: string) => number;
}

/**
 * Opens an environment's logs and starts its PostgreSQL.
 *
 * @param source what its database is restored from, as the end of a folder's name; empty if it is not
 * @param cleanup stops the environment
 */
export function openEnvironment(environment: string, source: string, cleanup: Cleanup, shared: Shared) {
  const { state, log, signal, onFailure } = shared;
  const folder = state.environment(environment);
  for (const each of [folder.keysDirectory, folder.logsDirectory]) mkdirSync(each, { recursive: true });
  const logs = openLogs(folder.logsDirectory, {
    onError: (name, message) => log.problem(`${environment}, ${name}: ${message}`),
    onFailure,
  });
  cleanup.add(() => logs.close());
  const startDatabase = async () =>
    startPostgres({
      directory: await provideDatabaseFolder(environment, source, state, signal),
      certificate: await shared.certificate,
      signal,
      onLog: (line) => logs.write('postgresql', line),
      onUnexpectedEnd: (how) => {
        const file = `${folder.logsDirectory}/postgresql.log`;
        onFailure(new StartError(`PostgreSQL of ${environment} exited unexpectedly (${how}). Log: ${file}`));
      },
    });
  const postgres = startDatabase().catch((error: Error) => {
    throw new StartError(`${environment}: ${error.message}`);
  });
  // Reported at once: nothing may await it yet.
  postgres.catch(onFailure);
  cleanup.add(() =>
    postgres.then(
      (started) => started.stop(),
      () => undefined,
    ),
  );
  return { folder, logs, postgres, cleanup };
}

/** Gives the APIs their addresses, creates the resources, then accepts requests and messages. */
export async function startEnvironment(stack: Stack, own: Own, shared: Shared) {
  const { folder, logs, permissions, portOf, cleanup } = own;
  const { log, signal, runtime } = shared;
  const apis = await openApis(stack, portOf, cleanup);
  const [certificate, services] = [await shared.certificate, await shared.services];
  const context = { ...services, ...own, stack, certificate, runtime };
  adoptKeys(stack.template, context);
  const { resources, outputs } = await deployStack(
    stack,
    (request) => {
      signal.throwIfAborted();
      return createResource(request, context);
    },
    services.secrets.valueOf,
    apis.localize,
  );
  for (const [logicalId, gateway] of apis.gateways) {
    gateway.serve({
      api: readApi(resources, logicalId),
      findFunction: (functionArn, sourceArn) => {
        const refusal = permissions.authorizeService('apigateway.amazonaws.com', functionArn, sourceArn);
        if (refusal === undefined) return services.functions.find(functionArn);
        logs.write('access', refusal);
        return { invoke: async () => failed('AccessDeniedException', refusal) };
      },
      region: stack.region,
      // Webhooks leave from the published address, also where a row adopts one that this machine does not have.
      sourceIp: outputs.WebhookOriginAddress,
    });
  }
  const queues = [...resources.values()].filter(({ type }) => type === 'AWS::SQS::Queue');
  services.queues.keep(
    folder.messagesFile,
    queues.map(({ attributes }) => attributes.QueueName),
  );
  const eventSources = startEventSources(resources, context);
  // Running requests and messages have a second to complete before their functions stop.
  cleanup.add(async () => {
    const stopped = Promise.all(eventSources.map((source) => source.stop()));
    const closed = [...apis.gateways.values()].map((gateway) => gateway.close());
    await Promise.all([...closed, Promise.race([stopped, sleep(1_000, undefined, { ref: false })])]);
  });
  log.step(`Started ${stack.environment}: ${outputs.ApiBaseUrl}`);
  return { stack, outputs };
}
