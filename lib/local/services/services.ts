import { localReceiversVariable } from '../../../lambda/webhooks/environment';
import { allSettledOrThrow, type Cleanup } from '../cleanup';
import { startDataApi } from '../data-api';
import { startKms } from '../kms/server';
import { type QueueServer, startQueues } from '../queues/queues';
import type { DataApiCluster } from '../resources/database-cluster';
import type { Functions } from '../resources/function';
import type { KeyStore } from '../resources/key';
import type { SecretStore } from '../resources/secrets';
import { startLambdaApi } from './lambda-api';
import { startSecrets } from './secrets-manager';

/** AWS's part on this machine: one server for each service, shared by all environments. */
export interface Services {
  /** By the names of `endpoints.json`. */
  readonly endpoints: Readonly<Record<ServiceName, string>>;
  /** What functions are told on this machine beside their own variables: where the services are, above all. */
  readonly variables: Readonly<Record<string, string>>;
  readonly queues: QueueServer;
  readonly keys: KeyStore;
  readonly secrets: SecretStore;
  readonly databases: { add(cluster: DataApiCluster): void };
  readonly functions: { add(functions: Pick<Functions, 'get'>): void };
}

type ServiceName = 'rds-data' | 'sqs' | 'kms' | 'secretsmanager' | 'lambda';

/** Credentials of every function here. The services take any; the database endpoint checks the tokens they sign. */
export const functionCredentials = {
  AWS_ACCESS_KEY_ID: 'LOCALFUNCTION',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_SESSION_TOKEN: 'local',
} as const;

/** Starts the services on free ports of 127.0.0.1. */
export async function startServices(cleanup: Cleanup): Promise<Services> {
  const clusters = new Map<string, DataApiCluster>();
  const hosts: Pick<Functions, 'get'>[] = [];
  const [dataApi, queues, kms, secrets, lambda] = await allSettledOrThrow([
    startDataApi({
      resolve: ({ resourceArn, secretArn, database }) => {
        const cluster = clusters.get(resourceArn);
        return cluster && (cluster.target(secretArn, database) ?? 'unknown-secret');
      },
    }),
    startQueues(),
    startKms(),
    startSecrets(),
    startLambdaApi((name) => hosts.map((host) => host.get(name)).find((found) => found !== undefined)),
  ]);
  cleanup.add(
    async () =>
      void (await Promise.all([
        dataApi.close(),
        queues.stop(),
        kms.close(),
        secrets.close(),
        lambda.close(),
      ])),
  );
  const endpoints = {
    'rds-data': dataApi.url,
    sqs: queues.url,
    kms: kms.url,
    secretsmanager: secrets.url,
    lambda: lambda.url,
  };
  return {
    endpoints,
    variables: {
      AWS_ENDPOINT_URL_RDS_DATA: endpoints['rds-data'],
      AWS_ENDPOINT_URL_SQS: endpoints.sqs,
      AWS_ENDPOINT_URL_KMS: endpoints.kms,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoints.secretsmanager,
      AWS_ENDPOINT_URL_LAMBDA: endpoints.lambda,
      [localReceiversVariable]: 'allowed',
      // Lambda has a newer Node.js than this machine may have: the SDK's warning would be about the wrong one.
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    },
    queues,
    keys: kms,
    secrets,
    databases: { add: (cluster) => void clusters.set(cluster.arn, cluster) },
    functions: { add: (functions) => void hosts.push(functions) },
  };
}
