import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { DescribeKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { ExecuteStatementCommand, RDSDataClient } from '@aws-sdk/client-rds-data';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { Cleanup } from '../../../local/cleanup';
import { allowEverything } from '../../../local/permissions/permissions';
import { type Services, startServices } from '../../../local/services/services';
import { localClient } from '../../support/aws-client';

const cleanup = new Cleanup();
let endpoints: Services['endpoints'];

beforeAll(async () => {
  ({ endpoints } = await startServices(cleanup, allowEverything));
});
afterAll(() => cleanup.run());

type Service = keyof Services['endpoints'];
type Middleware = (next: (args: { request: { headers: Record<string, string> } }) => unknown) => typeof next;
interface Client {
  readonly middlewareStack: { add(middleware: Middleware, options: { step: 'finalizeRequest' }): void };
  send(command: unknown): Promise<unknown>;
  destroy(): void;
}

const secret = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:a';
/** A call by the real SDK, and the name of its answer where there is nothing to find. */
const calls: Readonly<Record<Service, readonly [new (options: object) => unknown, unknown, string]>> = {
  'rds-data': [
    RDSDataClient,
    new ExecuteStatementCommand({ resourceArn: secret, secretArn: secret, sql: 'select 1' }),
    'HttpEndpointNotEnabledException',
  ],
  sqs: [SQSClient, new ListQueuesCommand({}), 'none'],
  kms: [KMSClient, new DescribeKeyCommand({ KeyId: 'a' }), 'NotFoundException'],
  secretsmanager: [
    SecretsManagerClient,
    new GetSecretValueCommand({ SecretId: 'a' }),
    'ResourceNotFoundException',
  ],
  lambda: [LambdaClient, new InvokeCommand({ FunctionName: 'a' }), 'ResourceNotFoundException'],
};

/** The name of the error that the SDK reads from the answer. */
async function errorOf(service: Service, headers: Readonly<Record<string, string>>): Promise<string> {
  const [Client, command] = calls[service];
  const client = new Client(localClient(endpoints[service])) as Client;
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

describe.each(Object.keys(calls) as Service[])('%s', (service) => {
  const portOf = () => new URL(endpoints[service]).port;

  it("answers an SDK, under the machine's names", async () => {
    for (const host of [`127.0.0.1:${portOf()}`, `LocalHost:${portOf()}`])
      expect([host, await errorOf(service, { host })]).toEqual([host, calls[service][2]]);
  });

  it("refuses another host's name and every page's origin, so that an SDK reads it", async () => {
    const own = `127.0.0.1:${portOf()}`;
    for (const headers of [
      { host: `rebound.example:${portOf()}` },
      { host: 'rebound.example' },
      { host: '127.0.0.1' },
      { host: '127.0.0.1:1' },
      { host: `${own}.rebound.example` },
      { host: `localhost.:${portOf()}` },
      { host: own, origin: 'https://page.example' },
      { host: own, origin: `http://${own}` },
      { host: own, origin: 'null' },
      { host: own, 'sec-fetch-site': 'cross-site' },
    ] as Record<string, string>[])
      expect([headers, await errorOf(service, headers)]).toEqual([headers, 'AccessDeniedException']);
  });

  it.each(['GET', 'POST', 'OPTIONS'])(
    'refuses a %s that no SDK sends, and names the reason',
    async (method) => {
      const ask = (headers: object) =>
        new Promise<{ status: number; headers: IncomingHttpHeaders; body: string }>((resolve, reject) => {
          const outgoing = httpRequest(
            {
              host: '127.0.0.1',
              port: portOf(),
              method,
              path: '/?Action=ListTopics',
              agent: false,
              ...headers,
            },
            async (incoming) => {
              let body = '';
              for await (const chunk of incoming) body += chunk;
              resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body });
            },
          );
          outgoing.once('error', reject).end();
        });
      const host = `127.0.0.1:${portOf()}`;
      const twice = await ask({ headers: ['Host', host, 'Host', host] });
      expect(twice).toMatchObject({
        status: 403,
        body: expect.stringContaining(`and is \\"${host}, ${host}`),
      });
      const simple = await ask({
        headers: { origin: 'null', 'content-type': 'application/x-www-form-urlencoded' },
      });
      expect(simple).toMatchObject({ status: 403, body: expect.stringContaining('the header origin') });
      expect(simple.headers).not.toHaveProperty('access-control-allow-origin');
    },
  );
});
