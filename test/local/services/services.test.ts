import { createPublicKey, randomBytes, verify } from 'node:crypto';
import { statSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { GenerateMacCommand, GetPublicKeyCommand, KMSClient, SignCommand } from '@aws-sdk/client-kms';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { ExecuteStatementCommand, RDSDataClient } from '@aws-sdk/client-rds-data';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { Cleanup } from '../../../local/cleanup';
import type { InvocationResult } from '../../../local/lambda/instance';
import { allowEverything } from '../../../local/permissions/permissions';
import { type Services, startServices } from '../../../local/services/services';
import { localClient } from '../../support/aws-client';
import { temporaryFolder } from '../../support/temporary-folder';

interface Client {
  send(command: unknown): Promise<unknown>;
  destroy(): void;
}

const cleanup = new Cleanup();
let services: Services;
let url: string;

/** A client of the SDK for this file's services. */
function open<C extends { destroy(): void }>(Client: new (options: object) => C, endpoint = url): C {
  const client = new Client(localClient(endpoint));
  cleanup.add(() => client.destroy());
  return client;
}

beforeAll(async () => {
  services = await startServices(cleanup, allowEverything);
  url = services.endpoints.kms;
});
afterAll(() => cleanup.run());

const arn = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:owner-a1b2c3';
const query = { resourceArn: arn, secretArn: arn, sql: 'select 1' };
it.each<[string, new (options: object) => unknown, unknown, string]>([
  ['rds-data', RDSDataClient, new ExecuteStatementCommand(query), 'HttpEndpointNotEnabledException'],
  ['kms', KMSClient, new GetPublicKeyCommand({ KeyId: 'a' }), 'NotFoundException'],
  ['lambda', LambdaClient, new InvokeCommand({ FunctionName: 'a' }), 'ResourceNotFoundException'],
  [
    'secretsmanager',
    SecretsManagerClient,
    new GetSecretValueCommand({ SecretId: 'a' }),
    'ResourceNotFoundException',
  ],
  ['ssm', SSMClient, new GetParameterCommand({ Name: 'a' }), 'UnknownOperationException'],
  ['sqs', SQSClient, new ListQueuesCommand({}), 'none'],
])('accepts a request that the SDK signs for %s', async (service, Client, command, expected) => {
  const endpoint = service === 'sqs' ? services.endpoints.sqs : url;
  const client = open(Client as new () => Client, endpoint);
  const error = await client.send(command).then(
    () => 'none',
    ({ name }) => name,
  );
  expect(error).toBe(expected);
});

describe.each(['kms', 'sqs'] as const)('%s', (service) => {
  it.each<[string, number, (port: string) => readonly string[]]>([
    ['its own name', 0, (port) => ['Host', `LocalHost:${port}`]],
    ['the name of a web page', 403, (port) => ['Host', `rebound.example:${port}`]],
    ['two names', 403, (port) => ['Host', `127.0.0.1:${port}`, 'Host', `127.0.0.1:${port}`]],
    ['an origin', 403, (port) => ['Host', `127.0.0.1:${port}`, 'Origin', 'null']],
    ["a browser's header", 403, (port) => ['Host', `127.0.0.1:${port}`, 'Sec-Fetch-Site', 'cross-site']],
  ])('called with %s: %s', async (_, refusal, headersOf) => {
    const { port } = new URL(services.endpoints[service]);
    const options = { host: '127.0.0.1', port, agent: false, headers: headersOf(port), method: 'POST' };
    const status = await new Promise((resolve, reject) => {
      const outgoing = httpRequest(options, (incoming) => resolve(incoming.resume().statusCode));
      outgoing.once('error', reject).end('{}');
    });
    if (refusal) expect(status).toBe(refusal);
    else expect(status).not.toBe(403);
  });
});

it('leaves idle connections to the client: no request is sent on one that the server closes', async () => {
  const { headers } = await fetch(url, { method: 'POST' });
  // Node.js announces in `Keep-Alive: timeout=N` when its server closes an idle connection.
  expect([headers.get('connection'), headers.get('keep-alive')]).toEqual(['keep-alive', null]);
});

describe('a request that an SDK never sends', () => {
  const signedFor = (service: string) => ({
    authorization: `AWS4-HMAC-SHA256 Credential=k/20260101/eu-central-1/${service}/aws4_request`,
  });
  const kms = (operation: string) => ({
    ...signedFor('kms'),
    'x-amz-target': `TrentService.${operation}`,
  });
  it.each<[string, Record<string, string>, string, string]>([
    ['without a signature', {}, '{}', 'UnknownOperationException'],
    ['for a service from the prototype', signedFor('toString'), '{}', 'UnknownOperationException'],
    ['for an operation from the prototype', kms('toString'), '{}', 'UnknownOperationException'],
    ['for another path of Lambda', signedFor('lambda'), '{}', 'UnknownOperationException'],
    ['with a body that is not JSON', kms('Sign'), '{', 'SerializationException'],
    ['with a body that is not an object', kms('Sign'), 'null', 'ValidationException'],
  ])('%s is refused by name', async (_, headers, body, name) => {
    const response = await fetch(url, { method: 'POST', headers, body });
    expect(response.headers.get('x-amzn-errortype')).toBe(name);
    expect(await response.json()).toMatchObject({ __type: name, message: expect.any(String) });
  });
});

it('Secrets Manager returns the latest value of a secret, and refuses versions', async () => {
  const client = open(SecretsManagerClient);
  services.secrets.put({ arn, name: 'owner', value: 'first' });
  services.secrets.put({ arn, name: 'owner', value: 'second' });
  for (const SecretId of [arn, 'owner']) {
    const output = await client.send(new GetSecretValueCommand({ SecretId }));
    expect(output).toMatchObject({ ARN: arn, Name: 'owner', SecretString: 'second' });
  }
  const version = new GetSecretValueCommand({ SecretId: arn, VersionStage: 'AWSPENDING' });
  await expect(client.send(version)).rejects.toMatchObject({ name: 'ValidationException' });
});

describe('KMS', () => {
  const folder = temporaryFolder();
  const keyArn = (id: string) => `arn:aws:kms:eu-central-1:000000000000:key/${id}`;
  const [signing, mac] = [keyArn('signing'), keyArn('mac')];
  let client: KMSClient;

  const create = (key: string, name: string, keySpec: string, keyUsage: string) =>
    services.keys.create({ arn: key, directory: folder(), name, keySpec, keyUsage });
  const createMac = (key: string) => create(key, 'Mac', 'HMAC_256', 'GENERATE_VERIFY_MAC');
  const sign = (KeyId: string, more: object = {}) =>
    new SignCommand({ KeyId, Message: Buffer.from('m'), SigningAlgorithm: 'ECDSA_SHA_256', ...more });
  const generateMac = (KeyId: string) =>
    new GenerateMacCommand({ KeyId, Message: Buffer.from('m'), MacAlgorithm: 'HMAC_SHA_256' });

  beforeAll(() => {
    client = open(KMSClient);
  });
  beforeEach(() => {
    create(signing, 'Signing', 'ECC_NIST_P256', 'SIGN_VERIFY');
    createMac(mac);
  });

  it('signs by ARN or id; the public key verifies the signature', async () => {
    const { PublicKey } = await client.send(new GetPublicKeyCommand({ KeyId: signing }));
    const key = createPublicKey({ key: Buffer.from(PublicKey as Uint8Array), type: 'spki', format: 'der' });
    for (const id of [signing, 'signing']) {
      const Message = randomBytes(4_096);
      const { Signature, KeyId } = await client.send(sign(id, { Message, MessageType: 'RAW' }));
      expect([KeyId, verify('sha256', Message, key, Signature as Uint8Array)]).toEqual([signing, true]);
    }
  });

  it.each([
    ['an unknown key', sign(keyArn('none')), 'NotFoundException'],
    ['a signature by a key for MACs', sign(mac), 'InvalidKeyUsageException'],
    ['a MAC by a key for signatures', generateMac(signing), 'InvalidKeyUsageException'],
    ['another algorithm', sign(signing, { SigningAlgorithm: 'RSASSA_PSS_SHA_256' }), 'ValidationException'],
    ['a digest', sign(signing, { MessageType: 'DIGEST' }), 'ValidationException'],
    ['a message of more than 4 KiB', sign(signing, { Message: Buffer.alloc(4_097) }), 'ValidationException'],
  ])('refuses %s', async (_, command, name) => {
    await expect(client.send(command as SignCommand)).rejects.toMatchObject({ name });
  });

  it('reads an existing key from a file that only its owner can read, and refuses unsupported kinds', async () => {
    const { Mac } = await client.send(generateMac(mac));
    createMac(keyArn('again'));
    expect((await client.send(generateMac(keyArn('again')))).Mac).toEqual(Mac);
    expect(statSync(join(folder(), 'Mac.json')).mode & 0o777).toBe(0o600);
    expect(() => create(signing, 'New', 'RSA_2048', 'SIGN_VERIFY')).toThrow('not supported');
  });
});

describe('Lambda', () => {
  const functionArn = 'arn:aws:lambda:eu-central-1:000000000000:function:operations';
  const events: unknown[] = [];
  let result: InvocationResult;
  beforeAll(() => {
    const invoke = async (event: unknown) => {
      events.push(event);
      return result;
    };
    services.functions.add({ name: 'operations', arn: functionArn, invoke } as never);
  });

  async function invoke(FunctionName: string, more: object = {}) {
    const command = new InvokeCommand({ FunctionName, Payload: '{"a":"ü"}', ...more });
    const { Payload, ...rest } = await open(LambdaClient).send(command);
    return { ...rest, payload: JSON.parse(Payload?.transformToString() ?? '') };
  }

  it.each(['operations', functionArn])('invokes %s', async (name) => {
    result = { ok: true, payload: { b: 'ü' } };
    expect(await invoke(name)).toMatchObject({ StatusCode: 200, payload: { b: 'ü' } });
    expect(events.pop()).toEqual({ a: 'ü' });
  });

  it('returns the error of a function as a payload', async () => {
    const error = { errorType: 'TypeError', errorMessage: 'wrong', trace: ['at'] };
    result = { ok: false, ...error };
    expect(await invoke('operations')).toMatchObject({ FunctionError: 'Unhandled', payload: error });
  });

  it('refuses events that are too large, and asynchronous invocations', async () => {
    result = { ok: false, errorType: 'RequestEntityTooLargeException', errorMessage: 'no' };
    await expect(invoke('operations')).rejects.toMatchObject({ name: 'RequestTooLargeException' });
    const name = 'InvalidParameterValueException';
    await expect(invoke('operations', { InvocationType: 'Event' })).rejects.toMatchObject({ name });
  });
});
