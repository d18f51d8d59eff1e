import { statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { GenerateMacCommand, KMSClient, ListKeysCommand, SignCommand } from '@aws-sdk/client-kms';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { allowEverything } from '../../../local/aws/iam/permissions';
import { adoptKeys } from '../../../local/aws/kms/resources';
import type { InvocationResult } from '../../../local/aws/lambda/instance';
import { type Services, startServices } from '../../../local/aws/services';
import { Cleanup } from '../../../local/shared/cleanup';
import { localClient } from '../../support/aws-client';
import { temporaryFolder } from '../../support/temporary-folder';

const arn = (resource: string) => `arn:aws:${resource.replace(':', ':eu-central-1:000000000000:')}`;
const secretArn = arn('secretsmanager:secret:owner-a1b2c3');
const [signing, mac] = [arn('kms:key/signing'), arn('kms:key/mac')];

const folder = temporaryFolder();
const cleanup = new Cleanup();
let services: Services;
let kms: KMSClient;
let lambda: LambdaClient;
let secrets: SecretsManagerClient;
/** What the function `operations` returns. */
let result: InvocationResult;
const invoke = async () => result;

beforeAll(async () => {
  services = await startServices(cleanup, allowEverything);
  const configuration = localClient(services.endpoints.kms);
  kms = new KMSClient(configuration);
  lambda = new LambdaClient(configuration);
  secrets = new SecretsManagerClient(configuration);
  for (const client of [kms, lambda, secrets]) cleanup.add(() => client.destroy());
  services.functions.add({ name: 'operations', arn: arn('lambda:function:operations'), invoke } as never);
  for (const value of ['first', 'second']) services.secrets.put({ arn: secretArn, name: 'owner', value });
});
beforeEach(() => {
  create(signing, 'Signing', 'ECC_NIST_P256', 'SIGN_VERIFY');
  createMac(mac);
});
afterAll(() => cleanup.run());

const create = (key: string, name: string, keySpec: string, keyUsage: string) =>
  services.keys.create({ arn: key, directory: folder(), name, keySpec, keyUsage });
const createMac = (key: string) => create(key, 'Mac', 'HMAC_256', 'GENERATE_VERIFY_MAC');

const Message = Buffer.alloc(4_096);
const sign = (KeyId: string, more: object = {}) =>
  kms.send(new SignCommand({ KeyId, Message, SigningAlgorithm: 'ECDSA_SHA_256', ...more }));
const generateMac = (KeyId: string) =>
  kms.send(new GenerateMacCommand({ KeyId, Message, MacAlgorithm: 'HMAC_SHA_256' }));
const invokeFunction = (more: object = {}) =>
  lambda.send(new InvokeCommand({ FunctionName: 'operations', Payload: '{}', ...more }));

it.each<[what: string, call: () => Promise<unknown>, name: string]>([
  ['another operation', () => kms.send(new ListKeysCommand()), 'UnknownOperationException'],
  ['an unknown key', () => sign(arn('kms:key/none')), 'NotFoundException'],
  ['a digest', () => sign(signing, { MessageType: 'DIGEST' }), 'ValidationException'],
  [
    'an asynchronous invocation',
    () => invokeFunction({ InvocationType: 'Event' }),
    'InvalidParameterValueException',
  ],
])('refuses %s', async (_, call, name) => {
  await expect(call()).rejects.toMatchObject({ name });
});

it.each(['kms', 'sqs'] as const)('%s refuses web pages', async (service) => {
  const { host, port } = new URL(services.endpoints[service]);
  const statusOf = (...headers: string[]) =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, agent: false, headers, method: 'POST' };
      const outgoing = request(options, (incoming) => resolve(incoming.resume().statusCode));
      outgoing.once('error', reject).end('{}');
    });
  expect(await statusOf('Host', `rebound.example:${port}`)).toBe(403);
  expect(await statusOf('Host', host, 'Host', host)).toBe(403);
  expect(await statusOf('Host', host, 'Origin', 'null')).toBe(403);
  expect(await statusOf('Host', host, 'Sec-Fetch-Site', 'cross-site')).toBe(403);
  expect(await statusOf('Host', `LocalHost:${port}`)).not.toBe(403);
});

it('Secrets Manager returns the latest value of a secret', async () => {
  const found = await secrets.send(new GetSecretValueCommand({ SecretId: 'owner' }));
  expect(found).toMatchObject({ ARN: secretArn, Name: 'owner', SecretString: 'second' });
});

it('KMS reads an existing key from a file that only its owner can read, and refuses unsupported kinds', async () => {
  const { Mac } = await generateMac(mac);
  createMac(arn('kms:key/again'));
  expect((await generateMac('again')).Mac).toEqual(Mac);
  expect(statSync(join(folder(), 'Mac.json')).mode & 0o777).toBe(0o600);
  expect(() => create(signing, 'New', 'RSA_2048', 'SIGN_VERIFY')).toThrow('not supported');
});

it('KMS opens a replica with the material of its primary, and an adopted key with what its first use needs', async () => {
  const replica = mac.replace('eu-central-1', 'eu-west-1');
  services.keys.share({ arn: replica, directory: folder(), name: 'Mac' });
  expect((await generateMac(replica)).Mac).toEqual((await generateMac(mac)).Mac);

  const attachToResource = jest.fn();
  const own = arn('kms:key/mrk-0123');
  const template = { Resources: { X: { Type: 'X', Properties: { keys: [own, own, replica] } } } };
  const stack = { name: 'X', region: 'eu-central-1' };
  adoptKeys(template, {
    stack,
    services,
    permissions: { attachToResource },
    cleanup,
    folder: { keysDirectory: folder() },
  } as never);
  expect(attachToResource.mock.calls.map(([adopted]) => adopted)).toEqual([own]);
  expect((await sign(own)).Signature).toBeDefined();
  await expect(generateMac(own)).rejects.toMatchObject({ name: 'InvalidKeyUsageException' });
});

it('Lambda returns the error of a function as a payload', async () => {
  const error = { errorType: 'TypeError', errorMessage: 'wrong', trace: ['at'] };
  result = { ok: false, ...error };
  const { FunctionError, Payload } = await invokeFunction();
  expect(FunctionError).toBe('Unhandled');
  expect(JSON.parse(Payload?.transformToString() ?? '')).toEqual(error);
});
