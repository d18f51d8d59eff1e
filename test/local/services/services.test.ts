import { request as httpRequest } from 'node:http';
import { GetPublicKeyCommand, KMSClient } from '@aws-sdk/client-kms';
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

const cleanup = new Cleanup();
let services: Services;
let url: string;

beforeAll(async () => {
  services = await startServices(cleanup, allowEverything);
  url = services.endpoints.kms;
});
afterAll(() => cleanup.run());

interface Client {
  send(command: unknown): Promise<unknown>;
  destroy(): void;
}

const arn = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:owner-a1b2c3';
it.each<[string, new (options: object) => unknown, unknown, string]>([
  [
    'rds-data',
    RDSDataClient,
    new ExecuteStatementCommand({ resourceArn: arn, secretArn: arn, sql: 'select 1' }),
    'HttpEndpointNotEnabledException',
  ],
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
  const client = new Client(localClient(service === 'sqs' ? services.endpoints.sqs : url)) as Client;
  const error = await client.send(command).then(
    () => 'none',
    ({ name }) => name,
  );
  client.destroy();
  expect(error).toBe(expected);
});

describe.each(['kms', 'sqs'] as const)('%s', (service) => {
  it.each<[string, number, (port: string) => readonly string[]]>([
    ['its own name', 0, (port) => ['Host', `LocalHost:${port}`]],
    ['the name of a web page', 403, (port) => ['Host', `rebound.example:${port}`]],
    ['no port', 403, () => ['Host', '127.0.0.1']],
    ['two hosts', 403, (port) => ['Host', `127.0.0.1:${port}`, 'Host', `127.0.0.1:${port}`]],
    ['an origin', 403, (port) => ['Host', `127.0.0.1:${port}`, 'Origin', 'null']],
    ["a browser's header", 403, (port) => ['Host', `127.0.0.1:${port}`, 'Sec-Fetch-Site', 'cross-site']],
  ])('called with %s: %s', async (_, refusal, headersOf) => {
    const { port } = new URL(services.endpoints[service]);
    const status = await new Promise((resolve, reject) => {
      const headers = headersOf(port);
      const options = { host: '127.0.0.1', port, agent: false, headers, method: 'POST' };
      const outgoing = httpRequest(options, ({ statusCode }) => resolve(statusCode));
      outgoing.once('error', reject).end('{}');
    });
    if (refusal) expect(status).toBe(refusal);
    else expect(status).not.toBe(403);
  });
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
    ['for no operation', signedFor('kms'), '{}', 'UnknownOperationException'],
    ['for an operation from the prototype', kms('toString'), '{}', 'UnknownOperationException'],
    ['for another path of Lambda', signedFor('lambda'), '{}', 'UnknownOperationException'],
    ['with a body that is not JSON', kms('Sign'), '{', 'SerializationException'],
    ['with a body that is not an object', kms('Sign'), '[]', 'SerializationException'],
  ])('%s is refused by name', async (_, headers, body, name) => {
    const response = await fetch(url, { method: 'POST', headers, body });
    expect(response.headers.get('x-amzn-errortype')).toBe(name);
    expect(await response.json()).toMatchObject({ __type: name, message: expect.any(String) });
  });
});

it('Secrets Manager returns the latest value of a secret, and refuses versions', async () => {
  const client = new SecretsManagerClient(localClient(url));
  services.secrets.put({ arn, name: 'owner', value: 'first' });
  services.secrets.put({ arn, name: 'owner', value: 'second' });
  for (const SecretId of [arn, 'owner']) {
    expect(await client.send(new GetSecretValueCommand({ SecretId }))).toMatchObject({
      ...{ ARN: arn, Name: 'owner', SecretString: 'second' },
    });
  }
  const version = new GetSecretValueCommand({ SecretId: arn, VersionStage: 'AWSPENDING' });
  await expect(client.send(version)).rejects.toMatchObject({ name: 'ValidationException' });
  client.destroy();
});

describe('Lambda', () => {
  const functionArn = 'arn:aws:lambda:eu-central-1:000000000000:function:operations';
  const events: unknown[] = [];
  let result: InvocationResult;
  let client: LambdaClient;
  beforeAll(() => {
    client = new LambdaClient(localClient(url));
    const invoke = async (event: unknown) => {
      events.push(event);
      return result;
    };
    services.functions.add({ name: 'operations', arn: functionArn, invoke } as never);
  });
  afterAll(() => client.destroy());

  async function invoke(FunctionName: string, more: object = {}) {
    const command = new InvokeCommand({ FunctionName, Payload: '{"a":"ü"}', ...more });
    const { Payload, ...rest } = await client.send(command);
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
    await expect(invoke('operations', { InvocationType: 'Event' })).rejects.toMatchObject({
      name: 'InvalidParameterValueException',
    });
  });
});
