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
const dataApi = createDataApi({
  resolve() {
    const { host, port, superuser: user, password, database } = postgres;
    return { host, port, user, password, database };
  },
});
const lambda = createLambdaApi(() => ({
  arn: 'arn:aws:lambda:eu-central-1:000000000000:function:f',
  invoke: async (payload) => ({ ok: true, payload }),
}));
let postgres: TestPostgres;
let server: LoopbackServer;

beforeAll(async () => {
  postgres = await startPostgres();
  server = await startAwsServer({
    'rds-data': dataApi.serve,
    kms: kms.serve,
    lambda,
    secretsmanager: secrets.serve,
  });
});
afterAll(async () => {
  await server.close();
  await dataApi.close();
  await postgres.stop();
});

const clusterArn = 'arn:aws:rds:eu-central-1:000000000000:cluster:wallet';
const secretArn = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:owner-a1b2c3';
const keyArn = 'arn:aws:kms:eu-central-1:000000000000:key/signing';

/** The output of the command line, or its failure. */
async function aws(...args: string[]): Promise<string> {
  const env = {
    PATH: process.env.PATH,
    HOME: folder(),
    AWS_PAGER: '',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_DEFAULT_REGION: 'eu-central-1',
  };
  const running = promisify(execFile)('aws', [...args, '--output', 'json'], { env, timeout: 60_000 });
  return running.then(
    ({ stdout }) => stdout,
    (error: Error) => `failed: ${error.message}`,
  );
}

it('the AWS command line works with every service of this machine', async () => {
  const [keySpec, keyUsage] = ['ECC_NIST_P256', 'SIGN_VERIFY'];
  secrets.put({ arn: secretArn, name: 'owner', value: 'p' });
  kms.create({ arn: keyArn, directory: folder(), name: 'Signing', keySpec, keyUsage });
  const endpoint = ['--endpoint-url', server.url];
  const target = ['--resource-arn', clusterArn, '--secret-arn', secretArn, ...endpoint];

  expect(await aws('kms', 'get-public-key', '--key-id', 'signing', ...endpoint)).toMatch(
    /^\{.*"PublicKey": "/s,
  );
  expect(await aws('kms', 'get-public-key', '--key-id', 'none', ...endpoint)).toContain('NotFoundException');
  expect(await aws('secretsmanager', 'get-secret-value', '--secret-id', 'owner', ...endpoint)).toMatch(
    /^\{.*"SecretString": "p"/s,
  );
  expect(await aws('rds-data', 'execute-statement', '--sql', 'select 1', ...target)).toMatch(
    /^\{.*"longValue": 1\b/s,
  );
  expect(await aws('rds-data', 'execute-statement', '--sql', 'select now() as at', ...target)).toContain(
    'Cast at to text',
  );
  const answer = join(folder(), 'answer.json');
  expect(await aws('lambda', 'invoke', '--function-name', 'f', ...endpoint, answer)).toMatch(
    /^\{.*"StatusCode": 200/s,
  );
});
