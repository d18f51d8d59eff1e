/** One request of a function's first invocation. */
export type Call = 'rds-data' | 'sqs' | 'kms-public-key' | 'kms-mac' | 'secrets' | 'pg' | 'http';

interface Client {
  readonly imports: string;
  /** Makes the client as the product does, at the first event. */
  readonly create: string;
  readonly call: string;
}

const clients: Readonly<Record<Call, Client>> = {
  'rds-data': {
    imports: `import { RDSDataClient, ExecuteStatementCommand } from '@aws-sdk/client-rds-data';`,
    create: 'const rdsData = new RDSDataClient({ maxAttempts: 1 });',
    call: `await rdsData.send(new ExecuteStatementCommand({
      resourceArn: env.DATABASE_CLUSTER_ARN, secretArn: env.DATABASE_SECRET_ARN, database: env.DATABASE_NAME, sql: 'select 1',
    }));`,
  },
  sqs: {
    imports: `import { SQSClient, SendMessageBatchCommand } from '@aws-sdk/client-sqs';`,
    create: 'const sqs = new SQSClient({});',
    call: `await sqs.send(new SendMessageBatchCommand({
      QueueUrl: env.DELIVERY_QUEUE_URL, Entries: [{ Id: '0', MessageBody: 'x', MessageGroupId: 'x' }],
    }));`,
  },
  'kms-public-key': {
    imports: `import { KMSClient, GetPublicKeyCommand } from '@aws-sdk/client-kms';`,
    create: 'const kms = new KMSClient({});',
    call: 'await kms.send(new GetPublicKeyCommand({ KeyId: env.SIGNING_KEY_ID }));',
  },
  'kms-mac': {
    imports: `import { KMSClient, GenerateMacCommand } from '@aws-sdk/client-kms';`,
    create: 'const kms = new KMSClient({});',
    call: `await kms.send(new GenerateMacCommand({
      KeyId: env.WEBHOOK_SECRETS_KEY_ID, MacAlgorithm: 'HMAC_SHA_256', Message: Buffer.from('x'),
    }));`,
  },
  secrets: {
    imports: `import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';`,
    create: 'const secrets = new SecretsManagerClient({});',
    call: '',
  },
  pg: {
    imports: `import { readFileSync } from 'node:fs'; import { Pool } from 'pg'; import { Signer } from '@aws-sdk/rds-signer';`,
    create: `const address = { host: env.DATABASE_HOST, port: Number(env.DATABASE_PORT) };
      const signer = new Signer({ hostname: address.host, port: address.port, username: env.DATABASE_USER });
      const pool = new Pool({
        ...address, database: env.DATABASE_NAME, user: env.DATABASE_USER, password: () => signer.getAuthToken(), max: 1,
        ssl: { ca: readFileSync(env.DATABASE_CERTIFICATE_AUTHORITIES, 'utf8') },
      });`,
    call: `await pool.query('select 1');`,
  },
  http: {
    imports: `import { request } from 'node:http'; import { once } from 'node:events';`,
    create: '',
    call: `const post = request(env.RECEIVER_URL, { method: 'POST' }).end('{}');
      const [response] = await once(post, 'response');
      response.resume();
      await once(response, 'close');`,
  },
};

/**
 * The source of a function that makes the clients which a use case needs and sends as many requests, and does nothing
 * else: what no code of ours could do without. No calls at all is an empty function.
 *
 * @param loaded clients that are made but not used at the first invocation
 */
export function clientsAlone(calls: readonly Call[], loaded: readonly Call[] = []): string {
  const used = [...new Set([...calls, ...loaded])].map((call) => clients[call]);
  return `
    ${used.map(({ imports }) => imports).join('\n')}
    const { env } = process;
    export const handler = async () => {
      ${used.map(({ create }) => create).join('\n')}
      ${calls.map((call) => `{ ${clients[call].call} }`).join('\n')}
    };`;
}
