import type { IncomingMessage, ServerResponse } from 'node:http';
import { fail, ok } from '../../../domain/result';
import { createDataApiDatabase, type DataApiSettings } from '../../../lambda/database/data-api';
import { sql } from '../../../lambda/database/database';
import { type HttpServer, startHttpServer } from '../../support/http-server';

type Reply = (response: ServerResponse, request: IncomingMessage) => unknown;
const rows: Reply = (response) =>
  response.end(JSON.stringify({ columnMetadata: [{ label: 'one' }], records: [[{ longValue: 1 }]] }));
const failsWith =
  (status: number, name: string): Reply =>
  (response) =>
    response.writeHead(status, { 'x-amzn-errortype': name }).end('{}');
const resuming = failsWith(400, 'DatabaseResumingException');

let server: HttpServer;
/** Sent in this order; the last one is repeated. */
let replies: Reply[];
let calls: number;
beforeAll(async () => {
  server = await startHttpServer((request, response) => {
    request.resume();
    calls += 1;
    response.setHeader('content-type', 'application/json');
    const [reply] = replies.length > 1 ? replies.splice(0, 1) : replies;
    reply?.(response, request);
  });
  const access = { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' };
  jest.replaceProperty(process, 'env', { ...process.env, ...access, AWS_ENDPOINT_URL_RDS_DATA: server.url });
});
beforeEach(() => {
  calls = 0;
});
afterAll(() => server.stop());

function ask(settings: Partial<DataApiSettings> = {}) {
  const target = { clusterArn: 'cluster', secretArn: 'secret', database: 'wallet' };
  return createDataApiDatabase({ ...target, ...settings }).execute(sql`select 1 as one`);
}
const unavailable = (reason: string) => fail({ kind: 'database_unavailable', reason });

it('waits for a paused cluster to resume; without settings, 20 s, and 8 s for a call', async () => {
  const timers = jest.spyOn(globalThis, 'setTimeout');
  replies = [resuming, rows];
  expect(await ask()).toEqual(ok([{ one: 1 }]));
  expect(timers.mock.calls.map(([, milliseconds]) => milliseconds)).toContain(8_000);
  timers.mockRestore();

  const start = Date.now();
  const now = jest.spyOn(Date, 'now').mockReturnValue(start);
  const afterSeconds =
    (seconds: number): Reply =>
    (...call) => {
      now.mockReturnValue(start + seconds * 1_000);
      resuming(...call);
    };
  replies = [afterSeconds(19.4), afterSeconds(19.6)];
  expect(await ask()).toEqual(unavailable('resuming'));
  expect(calls).toBe(4);
  now.mockRestore();
});

it.each<[reason: string, of: string, Reply]>([
  ['timeout', 'the statement', failsWith(400, 'StatementTimeoutException')],
  ['secret_unreadable', 'the secret', failsWith(400, 'SecretsErrorException')],
  ['throttled', 'the call', failsWith(400, 'ThrottlingException')],
  ['http_429', 'the call', failsWith(429, 'TooManyRequestsException')],
  ['http_502', 'a proxy', (response) => response.writeHead(502).end('<html>')],
  ['connection_lost', 'the call', (_, { socket }) => socket.destroy()],
  ['timeout', 'a call that takes too long', () => undefined],
])('reports %s of %s as unavailable, without a retry', async (reason, _, reply) => {
  replies = [reply];
  expect(await ask({ callTimeout: 500 })).toEqual(unavailable(reason));
  expect(calls).toBe(1);
});

it('names cluster, secret and database wherever AWS would take another', async () => {
  const send = jest.fn(async (_command: { input: object }) => ({ transactionId: 'one' }));
  const target = { clusterArn: 'cluster', secretArn: 'secret', database: 'wallet' };
  await createDataApiDatabase(target, { send } as never).transaction((each) => each.execute(sql`select 1`));
  const [begin, execute] = send.mock.calls.map(([{ input }]) => input);
  const named = { resourceArn: 'cluster', secretArn: 'secret', database: 'wallet' };
  expect([begin, execute]).toMatchObject([named, { ...named, transactionId: 'one' }]);
});

it('throws when AWS denies access', async () => {
  replies = [failsWith(403, 'AccessDeniedException')];
  await expect(ask()).rejects.toMatchObject({ name: 'AccessDeniedException' });
});
