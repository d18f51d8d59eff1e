import type { IncomingMessage, ServerResponse } from 'node:http';
import { RDSDataClient } from '@aws-sdk/client-rds-data';
import { fail, ok } from '../../../domain/result';
import { createDataApiDatabase } from '../../../lambda/database/data-api';
import { sql } from '../../../lambda/database/database';
import { localClient } from '../../support/aws-client';
import { type HttpServer, startHttpServer } from '../../support/http-server';

type Reply = (response: ServerResponse, request: IncomingMessage) => unknown;
const rows: Reply = (response) =>
  response.end(JSON.stringify({ columnMetadata: [{ label: 'one' }], records: [[{ longValue: 1 }]] }));
const failsWith =
  (status: number, name: string): Reply =>
  (response) =>
    response.writeHead(status, { 'x-amzn-errortype': name }).end(JSON.stringify({ message: name }));
/** As from a proxy. */
const badGateway: Reply = (response) =>
  response.writeHead(502, { 'content-type': 'text/html' }).end('<html>');
const resuming = failsWith(400, 'DatabaseResumingException');

let server: HttpServer;
/** In order; the last one is repeated. */
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
});
beforeEach(() => {
  calls = 0;
});
afterAll(() => server.stop());

function ask(resumeTimeout: number) {
  const requestHandler = { requestTimeout: 500, throwOnRequestTimeout: true };
  const client = new RDSDataClient({ ...localClient(server.url), requestHandler });
  const settings = { clusterArn: 'cluster', secretArn: 'secret', database: 'wallet', resumeTimeout };
  return createDataApiDatabase(settings, client)
    .execute(sql`select 1 as one`)
    .finally(() => client.destroy());
}
const unavailable = (reason: string) => fail({ kind: 'database_unavailable', reason });

it('waits for a paused cluster to resume, until its timeout', async () => {
  replies = [resuming, rows];
  expect(await ask(5_000)).toEqual(ok([{ one: 1 }]));
  replies = [resuming];
  expect(await ask(600)).toEqual(unavailable('resuming'));
});

it.each<[reason: string, of: string, Reply]>([
  ['timeout', 'the statement', failsWith(400, 'StatementTimeoutException')],
  ['timeout', 'the call', () => undefined],
  ['secret_unreadable', 'the secret', failsWith(400, 'SecretsErrorException')],
  ['throttled', 'the call', failsWith(400, 'ThrottlingException')],
  ['http_429', 'the call', failsWith(429, 'TooManyRequestsException')],
  ['http_502', 'a proxy', badGateway],
  ['connection_lost', 'the call', (_, { socket }) => socket.destroy()],
])('reports %s of %s as unavailable, without a retry', async (reason, _, reply) => {
  replies = [reply];
  expect(await ask(5_000)).toEqual(unavailable(reason));
  expect(calls).toBe(1);
});

it('throws when AWS denies access', async () => {
  replies = [failsWith(403, 'AccessDeniedException')];
  await expect(ask(5_000)).rejects.toMatchObject({ name: 'AccessDeniedException' });
});
