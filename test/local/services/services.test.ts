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

type Middleware = (next: (args: { request: { headers: Record<string, string> } }) => unknown) => typeof next;
interface Client {
  readonly middlewareStack: { add(middleware: Middleware, options: { step: 'finalizeRequest' }): void };
  send(command: unknown): Promise<unknown>;
  destroy(): void;
}

const arn = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:owner-a1b2c3';
/** A call by the real SDK, and the name of the error where there is nothing to find. */
const calls: Readonly<Record<string, readonly [new (options: object) => unknown, unknown, string]>> = {
  'rds-data': [
    RDSDataClient,
    new ExecuteStatementCommand({ resourceArn: arn, secretArn: arn, sql: 'select 1' }),
    'HttpEndpointNotEnabledException',
  ],
  kms: [KMSClient, new GetPublicKeyCommand({ KeyId: 'a' }), 'NotFoundException'],
  secretsmanager: [
    SecretsManagerClient,
    new GetSecretValueCommand({ SecretId: 'a' }),
    'ResourceNotFoundException',
  ],
  lambda: [LambdaClient, new InvokeCommand({ FunctionName: 'a' }), 'ResourceNotFoundException'],
  sqs: [SQSClient, new ListQueuesCommand({}), 'none'],
  ssm: [SSMClient, new GetParameterCommand({ Name: 'a' }), 'UnknownOperationException'],
};

/** The name of the error that the SDK reads from the answer. */
async function errorOf(service: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const [Client, command] = calls[service] as (typeof calls)[string];
  const endpoint = service === 'sqs' ? services.endpoints.sqs : url;
  const client = new Client(localClient(endpoint)) as Client;
  const alter: Middleware = (next) => (args) => {
    Object.assign(args.request.headers, headers);
    return next(args);
  };
  client.middlewareStack.add(alter, { step: 'finalizeRequest' });
  try {
    await client.send(command);
    return 'none';
  } catch (error) {
    return (error as Error).name;
  } finally {
    client.destroy();
  }
}

it('tells the services on one port apart as SDKs sign their requests', async () => {
  const { sqs, ...others } = services.endpoints;
  expect(new Set(Object.values(others)).size).toBe(1);
  for (const [service, [, , expected]] of Object.entries(calls)) {
    expect([service, await errorOf(service, {})]).toEqual([service, expected]);
  }
});

describe.each(['kms', 'sqs'] as const)('%s', (service) => {
  const portOf = () => new URL(services.endpoints[service]).port;

  it("answers under the machine's own names alone, and no web page", async () => {
    const own = `127.0.0.1:${portOf()}`;
    expect(await errorOf(service, { host: `LocalHost:${portOf()}` })).toBe(calls[service]?.[2]);
    for (const headers of [
      { host: `rebound.example:${portOf()}` },
      { host: '127.0.0.1' },
      { host: '127.0.0.1:1' },
      { host: `${own}.rebound.example` },
      { host: own, origin: 'https://page.example' },
      { host: own, origin: `http://${own}` },
      { host: own, origin: 'null' },
      { host: own, 'sec-fetch-site': 'cross-site' },
    ] as Record<string, string>[])
      expect([headers, await errorOf(service, headers)]).toEqual([headers, 'AccessDeniedException']);
  });

  it('refuses two hosts', async () => {
    const own = `127.0.0.1:${portOf()}`;
    const status = await new Promise((resolve, reject) => {
      const headers = ['Host', own, 'Host', own];
      const outgoing = httpRequest({ host: '127.0.0.1', port: portOf(), agent: false, headers }, (incoming) =>
        resolve(incoming.resume().statusCode),
      );
      outgoing.once('error', reject).end();
    });
    expect(status).toBe(403);
  });
});

describe('a request that no SDK sends', () => {
  const authorization = (service: string) =>
    `AWS4-HMAC-SHA256 Credential=k/20260101/eu-central-1/${service}/aws4_request`;
  it.each<[string, string, Record<string, string>, string, string]>([
    ['without a signature', '/', {}, '{}', 'UnknownOperationException'],
    [
      'to a name from the prototype',
      '/',
      { authorization: authorization('toString') },
      '{}',
      'UnknownOperationException',
    ],
    ['without a target', '/', { authorization: authorization('kms') }, '{}', 'UnknownOperationException'],
    [
      'for a target from the prototype',
      '/',
      { authorization: authorization('kms'), 'x-amz-target': 'TrentService.toString' },
      '{}',
      'UnknownOperationException',
    ],
    [
      'that is not JSON',
      '/',
      { authorization: authorization('kms'), 'x-amz-target': 'TrentService.Sign' },
      '{',
      'SerializationException',
    ],
    [
      'that is no object',
      '/',
      { authorization: authorization('kms'), 'x-amz-target': 'TrentService.Sign' },
      '[]',
      'SerializationException',
    ],
    [
      'for another path of Lambda',
      '/2015-03-31/functions/',
      { authorization: authorization('lambda') },
      '{}',
      'UnknownOperationException',
    ],
  ])('%s is refused by name', async (_, path, headers, body, name) => {
    const response = await fetch(url + path, { method: 'POST', headers, body });
    expect(response.headers.get('x-amzn-errortype')).toBe(name);
    expect(await response.json()).toMatchObject({ __type: name, message: expect.any(String) });
  });
});

describe('Secrets Manager', () => {
  let client: SecretsManagerClient;
  beforeAll(() => {
    client = new SecretsManagerClient(localClient(url));
    services.secrets.put({ arn, name: 'owner', value: 'first' });
    services.secrets.put({ arn, name: 'owner', value: '{"password":"p"}' });
  });
  afterAll(() => client.destroy());
  const get = (SecretId: string, more: object = {}) =>
    client.send(new GetSecretValueCommand({ SecretId, ...more }));

  it.each([arn, 'owner'])('gives the secret %s', async (id) => {
    expect(await get(id)).toMatchObject({ ARN: arn, Name: 'owner', SecretString: '{"password":"p"}' });
  });

  it('refuses versions', async () => {
    await expect(get(arn, { VersionStage: 'AWSPENDING' })).rejects.toMatchObject({
      name: 'ValidationException',
    });
  });
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
    services.functions.add((id) =>
      ['operations', functionArn].includes(id) ? ({ arn: functionArn, invoke } as never) : undefined,
    );
  });
  afterAll(() => client.destroy());

  async function invoke(FunctionName: string, more: object = {}) {
    const { Payload, ...rest } = await client.send(
      new InvokeCommand({ FunctionName, Payload: '{"a":"ü"}', ...more }),
    );
    return { ...rest, payload: JSON.parse(Payload?.transformToString() ?? '') };
  }

  it.each(['operations', functionArn])('invokes %s', async (name) => {
    result = { ok: true, payload: { b: 'ü' } };
    expect(await invoke(name)).toMatchObject({
      StatusCode: 200,
      ExecutedVersion: '$LATEST',
      payload: { b: 'ü' },
    });
    expect(events.pop()).toEqual({ a: 'ü' });
  });

  it('gives what the function throws as a payload', async () => {
    const error = { errorType: 'TypeError', errorMessage: 'wrong', trace: ['at'] };
    result = { ok: false, ...error };
    expect(await invoke('operations')).toMatchObject({ FunctionError: 'Unhandled', payload: error });
  });

  it('refuses an event that is too large by its documented name', async () => {
    result = { ok: false, errorType: 'RequestEntityTooLargeException', errorMessage: 'no' };
    await expect(invoke('operations')).rejects.toMatchObject({ name: 'RequestTooLargeException' });
  });

  it('refuses an invocation without an answer', async () => {
    await expect(invoke('operations', { InvocationType: 'Event' })).rejects.toMatchObject({
      name: 'InvalidParameterValueException',
    });
  });
});
