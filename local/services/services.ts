import { localReceiversVariable } from '../../domain/receiver-url';
import { allSettledOrThrow, type Cleanup } from '../cleanup';
import type { LocalFunction } from '../lambda/function';
import type { Authorize } from '../permissions/permissions';
import { startQueues } from '../queues/queues';
import { startAwsServer } from './aws-server';
import { createDataApi, type DatabaseTarget } from './data-api';
import { createKms } from './kms';
import { createLambdaApi } from './lambda-api';
import { createSecretsManager } from './secrets-manager';

/** A cluster with the Data API enabled. */
export interface DataApiCluster {
  readonly arn: string;
  /** Undefined when there is no such secret. */
  target(secretArn: string, database: string | undefined): DatabaseTarget | undefined;
}

/** Finds a function by its name or ARN. */
type FindFunction = (nameOrArn: string) => LocalFunction | undefined;

/** The AWS services on this machine, shared by all environments. */
export type Services = Awaited<ReturnType<typeof startServices>>;

/** Credentials of a function without a role: an administrator's. */
export const functionCredentials = {
  AWS_ACCESS_KEY_ID: 'LOCALFUNCTION',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_SESSION_TOKEN: 'local',
} as const;

/** Starts the services on free ports of 127.0.0.1: SQS on one, all others on another. */
export async function startServices(cleanup: Cleanup, authorize: Authorize) {
  const clusters = new Map<string, DataApiCluster>();
  const stacks: FindFunction[] = [];
  const findFunction: FindFunction = (nameOrArn) => {
    for (const find of stacks) {
      const found = find(nameOrArn);
      if (found) return found;
    }
    return undefined;
  };
  const keys = createKms(authorize);
  const secrets = createSecretsManager(authorize);
  const dataApi = createDataApi({
    resolve: ({ resourceArn, secretArn, database }) => {
      const cluster = clusters.get(resourceArn);
      return cluster && (cluster.target(secretArn, database) ?? 'unknown-secret');
    },
    authorize: ({ accessKeyId, action, resourceArn, secretArn }) =>
      authorize({ accessKeyId, action, resource: resourceArn }) ??
      secrets.authorizeRead(accessKeyId, secretArn),
  });
  cleanup.add(dataApi.close);
  const [server, queues] = await allSettledOrThrow([
    startAwsServer({
      'rds-data': dataApi.serve,
      kms: keys.serve,
      lambda: createLambdaApi(findFunction, authorize),
      secretsmanager: secrets.serve,
    }),
    startQueues(authorize),
  ]);
  cleanup.add(() => Promise.all([server.close(), queues.stop()]));
  const { url } = server;
  return {
    /** By the names of `endpoints.json`. */
    endpoints: { 'rds-data': url, sqs: queues.url, kms: url, secretsmanager: url, lambda: url },
    /** Variables that functions get on this machine beside their own. */
    variables: {
      ...functionCredentials,
      AWS_ENDPOINT_URL: url,
      AWS_ENDPOINT_URL_SQS: queues.url,
      // Lets webhooks go to the loopback address. In no template.
      [localReceiversVariable]: 'allowed',
      // Lambda has a newer Node.js than this machine may have: the SDK's warning would be about the wrong one.
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    },
    queues,
    keys,
    secrets,
    databases: { add: (cluster: DataApiCluster) => void clusters.set(cluster.arn, cluster) },
    functions: { add: (find: FindFunction) => void stacks.push(find), find: findFunction },
  };
}
