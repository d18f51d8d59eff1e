import { localReceiversVariable } from '../../../domain/receiver-url';
import type { DatabaseAccess, DatabaseRole } from '../../../lambda/database/environment';
import { runtimeEnvironment } from '../../../local/lambda/function';
import { startQueues } from '../../../local/queues/queues';
import { createSigningKey } from '../../support/tokens';
import { startDatabase } from '../world/database';
import { signingKeyArn, startKeys, webhookSecretsKeyArn } from '../world/keys';
import { region } from '../world/region';
import type { Call } from './clients-alone';
import { deletionVariables } from './deletion-event';
import type { PartOptions } from './figures';
import { fillRegion, organizationId } from './fill';
import { type FirstEvent, firstEvents, type UseCase } from './first-events';
import { startReceiverProcess } from './receiver-process';

/** A function's first invocation, and what it does beside its own work. */
export interface ColdStart extends FirstEvent {
  /** Names the figure: the use case, and the access to the database where it is not the Data API. */
  readonly name: string;
  readonly useCase: UseCase;
  /** The requests of the invocation, for comparison with clients that send as many. */
  readonly calls: readonly Call[];
  /** Clients that are loaded and made, but not used here. */
  readonly loaded: readonly Call[];
  /** What the clients are called in the table. */
  readonly against: string;
  readonly environment: Readonly<Record<string, string>>;
}

interface Row extends Partial<Pick<ColdStart, 'calls' | 'loaded' | 'against'>> {
  readonly useCase: UseCase;
  /** @default delete_user_group */
  readonly role?: DatabaseRole;
  /** @default data-api */
  readonly access?: DatabaseAccess;
}

const rows: readonly Row[] = [
  { useCase: 'authorize-request' },
  { useCase: 'serve-dashboard' },
  { useCase: 'delete-user-group', calls: ['rds-data'], against: 'RDS Data client' },
  { useCase: 'delete-user-group', access: 'direct', calls: ['pg'], against: 'pg and signer' },
  {
    useCase: 'fan-out-event',
    role: 'fan_out_event',
    calls: ['rds-data', 'sqs'],
    against: 'RDS Data and SQS clients',
  },
  {
    useCase: 'deliver-webhook',
    role: 'deliver_webhook',
    calls: ['rds-data', 'kms-mac', 'http', 'rds-data'],
    loaded: ['sqs'],
    against: 'RDS Data, KMS and SQS clients',
  },
  { useCase: 'run-operation', role: 'run_operation', calls: ['rds-data'], against: 'RDS Data client' },
  {
    useCase: 'purge-expired',
    role: 'purge_expired',
    calls: ['rds-data', 'rds-data'],
    against: 'RDS Data client',
  },
  { useCase: 'export-jwks', calls: ['kms-public-key'], against: 'KMS client' },
  {
    useCase: 'migrate-schema',
    loaded: ['rds-data', 'secrets'],
    against: 'RDS Data and Secrets Manager clients',
  },
];

const webhookId = 'wh-aaaaa-aaaaa-aaaaaaaaaaaaaaaa';

/** Starts what every function needs around it: databases by both ways, queues, keys and a receiver. */
export async function prepareColdStarts(options: PartOptions): Promise<readonly ColdStart[]> {
  const { cleanup, directory, signal } = options;
  const { url: receiver } = await startReceiverProcess(cleanup);
  const startFilled = async (access: DatabaseAccess) => {
    const { client, variables } = await startDatabase(cleanup, { directory, access, signal });
    await fillRegion(client, { groups: 10_000, groupsPerOrganization: 1_000 });
    const webhook = [webhookId, organizationId(0), receiver];
    await client.query(
      'insert into webhooks (webhook_id, organization_id, url, troubled_at) values ($1, $2, $3, null)',
      webhook,
    );
    return variables;
  };
  const databases = { 'data-api': await startFilled('data-api'), direct: await startFilled('direct') };
  const queues = await startQueues();
  cleanup.add(queues.stop);
  const { url: queue } = await queues.createQueue({ name: 'bench', region, attributes: {} });
  const key = createSigningKey();
  const events = firstEvents(key, webhookId);
  const common = {
    ...deletionVariables(key),
    TOKEN_KEYS: JSON.stringify({ keys: [key.jwk] }),
    ENVIRONMENT: 'bench',
    FACTS: '{}',
    OTHER_DASHBOARDS: '[]',
    EVENTS_QUEUE_URL: queue,
    EVENTS_DEAD_LETTER_QUEUE_URL: queue,
    DELIVERY_QUEUE_URL: queue,
    RETRY_QUEUE_URL: queue,
    DELIVERY_DEAD_LETTER_QUEUE_URL: queue,
    WEBHOOK_SECRETS_KEY_ID: webhookSecretsKeyArn,
    SIGNING_KEY_ID: signingKeyArn,
    RECEIVER_URL: receiver,
    DATABASE_ROLE_SECRETS: '{}',
    DATABASE_MASTER_SECRET_ARN: 'unused',
    AWS_ENDPOINT_URL_SQS: queues.url,
    AWS_ENDPOINT_URL_KMS: await startKeys(cleanup, directory),
    [localReceiversVariable]: 'allowed',
  };
  const runtime = runtimeEnvironment({
    name: 'bench',
    region,
    memoryMiB: 512,
    handler: 'index.handler',
    bundleDirectory: directory,
  });
  return rows.map(({ useCase, role = 'delete_user_group', access = 'data-api', ...row }) => ({
    name: access === 'direct' ? `${useCase}, direct` : useCase,
    useCase,
    calls: [],
    loaded: [],
    against: '',
    ...row,
    ...events[useCase],
    environment: { ...runtime, ...databases[access](role), ...common },
  }));
}
