import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { LoopbackServer } from '../../local/network/loopback-server';
import { startAwsServer } from '../../local/services/aws-server';
import { createDataApi } from '../../local/services/data-api';
import { createKms } from '../../local/services/kms';
import { createLambdaApi } from '../../local/services/lambda-api';
import { createSecretsManager } from '../../local/services/secrets-manager';
import { startPostgres, type TestPostgres } from '../support/postgres';
import { temporaryFolder } from '../support/temporary-folder';

// Each call of the command line starts Python.
jest.setTimeout(120_000);

const folder = temporaryFolder();
const kms = createKms();
const secrets = createSecretsManager();
const dataApi = createDataApi({ resolve: () => ({ ...postgres, user: postgres.superuser }) });
const lambda = createLambdaApi(() => ({
  arn: 'arn:aws:lambda:eu-central-1:000000000000:function:f',
  invoke: async (payload) => ({ ok: true, payload }),
}));
let postgres: TestPostgres;
let server: LoopbackServer;

beforeAll(async () => {
  postgres = await startPostgres();
  const services = { 'rds-data': dataApi.serve, kms: kms.serve, lambda, secretsmanager: secrets.serve };
  server = await startAwsServer(services);
});
afterAll(async () => {
  await server.close();
  await dataApi.close();
  await postgres.stop();
});

const clusterArn = 'arn:aws:rds:eu-central-1:000000000000:cluster:wallet';
const secretArn = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:owner-a1b2c3';
const keyArn = 'arn:aws:kms:eu-central-1:000000000000:key/signing';

it('the AWS command line works with every service of this machine', async () => {
  const database = ['--resource-arn', clusterArn, '--secret-arn', secretArn];
  const [keySpec, keyUsage] = ['ECC_NIST_P256', 'SIGN_VERIFY'];
  secrets.put({ arn: secretArn, name: 'owner', value: 'p' });
  kms.create({ arn: keyArn, directory: folder(), name: 'Signing', keySpec, keyUsage });
  const env = {
    PATH: process.env.PATH,
    HOME: folder(),
    AWS_PAGER: '',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_DEFAULT_REGION: 'eu-central-1',
  };
  for (const [args, output] of [
    [['kms', 'get-public-key', '--key-id', 'signing'], /^\{.*"PublicKey": "/s],
    [['secretsmanager', 'get-secret-value', '--secret-id', 'owner'], /^\{.*"SecretString": "p"/s],
    [['rds-data', 'execute-statement', ...database, '--sql', 'select 1'], /^\{.*"longValue": 1\b/s],
    [['lambda', 'invoke', '--function-name', 'f', join(folder(), 'answer.json')], /^\{.*"StatusCode": 200/s],
  ] as const) {
    const all = [...args, '--endpoint-url', server.url, '--output', 'json'];
    expect((await promisify(execFile)('aws', all, { env, timeout: 60_000 })).stdout).toMatch(output);
  }
});
