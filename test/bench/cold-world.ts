import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { DatabaseRole } from '../../lambda/database/environment';
import { localReceiversVariable } from '../../lambda/webhooks/environment';
import type { Cleanup } from '../../lib/local/cleanup';
import { runtimeEnvironment } from '../../lib/local/function-runtime/environment';
import { startKms } from '../../lib/local/kms/server';
import { startQueues } from '../../lib/local/queues/queues';
import { createSigningKey } from '../support/tokens';
import type { Call } from './clients-alone';
import { type ColdEvents, coldEvents } from './cold-events';
import { deletionVariables } from './deletion-event';
import { fillRegion, organizationId } from './fill';
import { type BenchRegion, region, startRegion } from './region';

/** A function's first invocation, and what it does beside its own work. */
export interface ColdStart {
  /** Names the figure: the use case, and the access to the database where it is not the Data API. */
  readonly name: string;
  readonly useCase: string;
  /** The requests of the invocation, for comparison with clients that send as many. */
  readonly calls: readonly Call[];
  /** Clients that are loaded and made, but not used here. */
  readonly loaded: readonly Call[];
  /** What the clients are called in the table. */
  readonly against: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Made anew for every process: a user action is used once. */
  event(): unknown;
  isExpected(answer: unknown): boolean;
}

const keyArn = (name: string) => `arn:aws:kms:${region}:000000000000:key/${name}`;
const webhookId = 'wh-aaaaa-aaaaa-aaaaaaaaaaaaaaaa';

/** What every function needs around it on this machine: databases by both ways, queues, keys and a receiver. */
export async function startColdWorld(
  cleanup: Cleanup,
  directory: string,
  signal: AbortSignal,
): Promise<readonly ColdStart[]> {
  const dataApi = await startFilledRegion(cleanup, 'data-api', signal);
  const direct = await startFilledRegion(cleanup, 'direct', signal);
  const receiver = await startReceiver(cleanup);
  for (const { client } of [dataApi, direct]) {
    await client.query('insert into webhooks (webhook_id, organization_id, url) values ($1, $2, $3)', [
      webhookId,
      organizationId(0),
      receiver,
    ]);
  }
  const queues = await startQueues();
  cleanup.add(queues.stop);
  const queue = await queues.createQueue({ name: 'bench', region, attributes: {} });
  const kms = await startKms();
  cleanup.add(kms.close);
  const keys = join(directory, 'keys');
  kms.create({
    arn: keyArn('mac'),
    directory: keys,
    name: 'mac',
    keySpec: 'HMAC_256',
    keyUsage: 'GENERATE_VERIFY_MAC',
  });
  kms.create({
    arn: keyArn('sign'),
    directory: keys,
    name: 'sign',
    keySpec: 'ECC_NIST_P256',
    keyUsage: 'SIGN_VERIFY',
  });
  const key = createSigningKey();
  const variables = {
    ...deletionVariables(key),
    TOKEN_KEYS: JSON.stringify({ keys: [key.jwk] }),
    ENVIRONMENT: 'bench',
    FACTS: '{}',
    EVENTS_QUEUE_URL: queue.url,
    EVENTS_DEAD_LETTER_QUEUE_URL: queue.url,
    DELIVERY_QUEUE_URL: queue.url,
    DELIVERY_DEAD_LETTER_QUEUE_URL: queue.url,
    WEBHOOK_SECRETS_KEY_ID: keyArn('mac'),
    SIGNING_KEY_ID: keyArn('sign'),
    RECEIVER_URL: receiver,
    DATABASE_ROLE_SECRETS: '{}',
    DATABASE_MASTER_SECRET_ARN: 'unused',
    AWS_ENDPOINT_URL_SQS: queues.url,
    AWS_ENDPOINT_URL_KMS: kms.url,
    [localReceiversVariable]: 'allowed',
  };
  const identity = {
    name: 'bench',
    region,
    memoryMiB: 512,
    handler: 'index.handler',
    bundleDirectory: directory,
  };
  const environment = (database: BenchRegion, role: DatabaseRole) => ({
    ...runtimeEnvironment(identity),
    ...database.variables(role),
    ...variables,
  });
  return startsOf(coldEvents(key, { signingKeyArn: keyArn('sign'), webhookId, queueArn: queue.arn }), {
    dataApi: (role) => environment(dataApi, role),
    direct: (role) => environment(direct, role),
  });
}

interface Environments {
  dataApi(role: DatabaseRole): Readonly<Record<string, string>>;
  direct(role: DatabaseRole): Readonly<Record<string, string>>;
}

function startsOf(events: ColdEvents, { dataApi, direct }: Environments): readonly ColdStart[] {
  const start = (
    useCase: keyof ColdEvents,
    environment: Readonly<Record<string, string>>,
    needs: { readonly calls?: readonly Call[]; readonly loaded?: readonly Call[]; readonly against?: string },
    name: string = useCase,
  ): ColdStart => ({
    name,
    useCase,
    environment,
    calls: needs.calls ?? [],
    loaded: needs.loaded ?? [],
    against: needs.against ?? '',
    ...events[useCase],
  });
  return [
    start('authorize-request', dataApi('delete_user_group'), {}),
    start('serve-dashboard', dataApi('delete_user_group'), {}),
    start('delete-user-group', dataApi('delete_user_group'), {
      calls: ['rds-data'],
      against: 'RDS Data client',
    }),
    start(
      'delete-user-group',
      direct('delete_user_group'),
      { calls: ['pg'], against: 'pg and signer' },
      'delete-user-group, direct',
    ),
    start('fan-out-event', dataApi('fan_out_event'), {
      calls: ['rds-data', 'sqs'],
      against: 'RDS Data and SQS clients',
    }),
    start('deliver-webhook', dataApi('deliver_webhook'), {
      calls: ['rds-data', 'kms-mac', 'http', 'rds-data'],
      loaded: ['sqs'],
      against: 'RDS Data, KMS and SQS clients',
    }),
    start('run-operation', dataApi('run_operation'), { calls: ['rds-data'], against: 'RDS Data client' }),
    start('purge-expired', dataApi('purge_expired'), {
      calls: ['rds-data', 'rds-data'],
      against: 'RDS Data client',
    }),
    start('export-jwks', dataApi('delete_user_group'), { calls: ['kms-public-key'], against: 'KMS client' }),
    start('migrate-schema', dataApi('delete_user_group'), {
      loaded: ['rds-data', 'secrets'],
      against: 'RDS Data and Secrets Manager clients',
    }),
  ];
}

async function startFilledRegion(
  cleanup: Cleanup,
  access: 'data-api' | 'direct',
  signal: AbortSignal,
): Promise<BenchRegion> {
  const filled = await startRegion(cleanup, access, { durable: false, signal });
  await fillRegion(filled.client, { groups: 10_000, groupsPerOrganization: 1_000 });
  return filled;
}

async function startReceiver(cleanup: Cleanup): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(204).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanup.add(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
