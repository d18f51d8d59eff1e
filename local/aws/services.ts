import { localReceiversVariable } from '../../domain/receiver-url';
import type { Cleanup } from '../shared/cleanup';
import { startAwsServer } from './aws-server';
import type { Authorize } from './iam/permissions';
import { createKms } from './kms/kms';
import type { StackFunction, StackFunctions } from './lambda/function';
import { createLambdaApi } from './lambda/invoke-api';
import { createDataApi } from './rds/data-api-service';
import type { ClusterNeeds } from './rds/resources';
import { createSecretsManager } from './secrets-manager/secrets-manager';
import { startQueues } from './sqs/queues';

/** The local AWS services, shared by all environments. */
export type Services = Awaited<ReturnType<typeof startServices>>;

/** Starts the services on free ports of 127.0.0.1: SQS on one, all others on another. */
export async function startServices(cleanup: Cleanup, authorize: Authorize) {
  const clusters: ClusterNeeds['clusters'] = new Map();
  const databases: ClusterNeeds['databases'] = new Map();
  /** Keyed by ARN. */
  const functions = new Map<string, StackFunction>();
  const findFunction = (nameOrArn: string) =>
    functions.get(nameOrArn) ?? [...functions.values()].find(({ name }) => name === nameOrArn);
  const keys = createKms(authorize);
  const secrets = createSecretsManager(authorize);
  const dataApi = createDataApi({
    resolve: ({ resourceArn, secretArn, database }) => {
      const cluster = clusters.get(resourceArn);
      const secret = secrets.valueOf(secretArn);
      if (!cluster || secret === undefined) return cluster && 'unknown-secret';
      const { username: user, password } = JSON.parse(secret);
      return { ...cluster, user, password, ...(database !== undefined && { database }) };
    },
    authorize: ({ accessKeyId, action, resourceArn, secretArn }) =>
      authorize({ accessKeyId, action, resource: resourceArn }) ??
      secrets.authorizeRead(accessKeyId, secretArn),
  });
  cleanup.add(dataApi.close);
  const server = await startAwsServer({
    'rds-data': dataApi.serve,
    kms: keys.serve,
    lambda: createLambdaApi(findFunction, authorize),
    secretsmanager: secrets.serve,
  });
  cleanup.add(server.close);
  const queues = await startQueues(authorize);
  cleanup.add(queues.stop);
  const { url } = server;
  const stackFunctions: StackFunctions = {
    add: (added) => void functions.set(added.arn, added),
    find(nameOrArn) {
      const found = findFunction(nameOrArn);
      if (!found) throw new Error(`Function ${nameOrArn} does not exist.`);
      return found;
    },
  };
  return {
    /** Keyed by the names in `endpoints.json`. */
    endpoints: { 'rds-data': url, sqs: queues.url, kms: url, secretsmanager: url, lambda: url },
    /** Variables added to every function locally. */
    variables: {
      AWS_ENDPOINT_URL: url,
      AWS_ENDPOINT_URL_SQS: queues.url,
      // Allows webhooks to the loopback address. In no template.
      [localReceiversVariable]: 'allowed',
      // The SDK would warn about this machine's Node.js, which may be older than Lambda's.
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    },
    queues,
    keys,
    secrets,
    clusters,
    databases,
    functions: stackFunctions,
  };
}
