import { RDSDataClient } from '@aws-sdk/client-rds-data';
import { fail, ok } from '../../../domain/result';
import { createDataApiDatabase } from '../../../lambda/database/data-api';
import { sql } from '../../../lambda/database/database';
import { localClient } from '../../support/aws-client';
import { type HttpServer, startHttpServer } from '../../support/http-server';

type Reply = readonly [status: number, error: string] | number | 'rows' | 'reset' | 'silence';

let server: HttpServer;
let replies: Reply[];
let calls: number;

beforeEach(async () => {
  calls = 0;
  server = await startHttpServer((request, response) => {
    request.resume();
    calls += 1;
    const reply = replies.length > 1 ? replies.shift() : replies[0];
    if (reply === 'silence') return;
    if (reply === 'reset') {
      request.socket.destroy();
      return;
    }
    response.setHeader('content-type', 'application/json');
    if (reply === 'rows' || reply === undefined) {
      response.end(JSON.stringify({ columnMetadata: [{ label: 'one' }], records: [[{ longValue: 1 }]] }));
      return;
    }
    if (typeof reply === 'number') {
      response.writeHead(reply, { 'content-type': 'text/html' }).end('<html><h1>Bad Gateway</h1></html>');
      return;
    }
    const [status, name] = reply;
    response.writeHead(status, { 'x-amzn-errortype': name }).end(JSON.stringify({ message: name }));
  });
});
afterEach(() => server.stop());

function ask(resumeTimeout = 5_000, callTimeout = 8_000) {
  const client = new RDSDataClient({
    ...localClient(server.url),
    requestHandler: { requestTimeout: callTimeout, throwOnRequestTimeout: true },
  });
  const settings = { clusterArn: 'cluster', secretArn: 'secret', database: 'wallet', resumeTimeout };
  return createDataApiDatabase(settings, client)
    .execute(sql`select 1 as one`)
    .finally(() => client.destroy());
}

const unavailable = (reason: string) => fail({ kind: 'database_unavailable', reason });

it('waits for a paused cluster to resume', async () => {
  replies = [[400, 'DatabaseResumingException'], [400, 'DatabaseResumingException'], 'rows'];
  expect(await ask()).toEqual(ok([{ one: 1 }]));
  expect(calls).toBe(3);
});

it('stops waiting for a paused cluster after its timeout', async () => {
  replies = [[400, 'DatabaseResumingException']];
  expect(await ask(1_200)).toEqual(unavailable('resuming'));
  expect(calls).toBeGreaterThan(1);
});

it.each<[Reply, string]>([
  [[504, 'DatabaseUnavailableException'], 'DatabaseUnavailableException'],
  [[503, 'ServiceUnavailableError'], 'ServiceUnavailableError'],
  [[500, 'InternalServerErrorException'], 'InternalServerErrorException'],
  [[400, 'StatementTimeoutException'], 'timeout'],
  [[400, 'SecretsErrorException'], 'SecretsErrorException'],
  [[429, 'ThrottlingException'], 'throttled'],
  [[429, 'TooManyRequestsException'], 'http_429'],
  [[503, 'ServiceUnavailableException'], 'http_503'],
  [[500, 'InternalFailure'], 'http_500'],
  [502, 'http_502'],
  ['reset', 'connection_lost'],
])('reports %s as unavailable, without a retry', async (reply, reason) => {
  replies = [reply];
  expect(await ask()).toEqual(unavailable(reason));
  expect(calls).toBe(1);
});

it('times out', async () => {
  replies = ['silence'];
  expect(await ask(0, 200)).toEqual(unavailable('timeout'));
});

it('throws when AWS denies access', async () => {
  replies = [[403, 'AccessDeniedException']];
  await expect(ask()).rejects.toMatchObject({ name: 'AccessDeniedException' });
});
