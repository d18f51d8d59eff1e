import { localReceiversVariable } from '../../../lambda/webhooks/environment';
import { allSettledOrThrow, type Cleanup } from '../cleanup';
import { startDataApi } from '../data-api';
import type { AccessKey } from '../database-endpoint/token';
import { startKms } from '../kms/server';
import { startQueues } from '../queues/queues';
import type { DataApiCluster } from '../resources/database-cluster';
import type { StackFunctions } from '../resources/function';
import { startLambdaApi } from './lambda-api';
import { startSecretsManager } from './secrets-manager';

/** The AWS services on this machine: one server each, shared by all environments. */
export type Services = Awaited<ReturnType<typeof startServices>>;

/** Credentials of every function here. The services take any; the database endpoint checks the tokens they sign. */
export const functionCredentials = {
  AWS_ACCESS_KEY_ID: 'LOCALFUNCTION',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_SESSION_TOKEN: 'local',
} as const;

export const functionAccessKey: AccessKey = {
  accessKeyId: functionCredentials.AWS_ACCESS_KEY_ID,
  secretAccessKey: functionCredentials.AWS_SECRET_ACCESS_KEY,
  sessionToken: functionCredentials.AWS_SESSION_TOKEN,
};

/** Starts the services on free ports of 127.0.0.1. */
export async function startServices(cleanup: Cleanup) {
  const clusters = new Map<string, DataApiCluster>();
  const stacks: Pick<StackFunctions, 'get'>[] = [];
  const [dataApi, queues, kms, secrets, lambda] = await allSettledOrThrow([
    startDataApi({
      resolve: ({ resourceArn, secretArn, database }) => {
        const cluster = clusters.get(resourceArn);
        return cluster && (cluster.target(secretArn, database) ?? 'unknown-secret');
      },
    }),
    startQueues(),
    startKms(),
    startSecretsManager(),
    startLambdaApi((name) =>
      stacks.map((functions) => functions.get(name)).find((found) => found !== undefined),
    ),
  ]);
  cleanup.add(() =>
    Promise.all([dataApi.close(), queues.stop(), kms.close(), secrets.close(), lambda.close()]),
  );
  const endpoints = {
    'rds-data': dataApi.url,
    sqs: queues.url,
    kms: kms.url,
    secretsmanager: secrets.url,
    lambda: lambda.url,
  };
  return {
    /** By the names of `endpoints.json`. */
    endpoints,
    /** Variables that functions get on this machine beside their own. */
    variables: {
      ...functionCredentials,
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
    databases: { add: (cluster: DataApiCluster) => void clusters.set(cluster.arn, cluster) },
    functions: { add: (functions: Pick<StackFunctions, 'get'>) => void stacks.push(functions) },
  };
}
