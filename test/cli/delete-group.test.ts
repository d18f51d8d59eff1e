import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { type HttpServer, startHttpServer } from '../support/http-server';
import { first } from '../support/rows';
import { identityId, organizationId, type Region, startRegion, wallet } from './region';

const group = 'ug-aaaaa-bbbbb-cccccccccccccc';
const path = `/auth/user-groups/${group}`;
const refusal = { code: 'permission_missing', detail: 'The caller does not hold the permission.' };

let region: Region;
let api: HttpServer;
let requests: IncomingMessage[];
let refused: boolean;
beforeAll(async () => {
  region = await startRegion();
  api = await startHttpServer((request, response) => {
    requests.push(request);
    const [status, type, body] = refused ? [403, 'problem+json', refusal] : [200, 'json', {}];
    response.writeHead(status, { 'content-type': `application/${type}` }).end(JSON.stringify(body));
  });
  const outputs = JSON.parse(readFileSync(region.outputs, 'utf8'));
  outputs[first.stackId].ApiBaseUrl = api.url;
  writeFileSync(region.outputs, JSON.stringify(outputs));
});
beforeEach(() => {
  requests = [];
  refused = false;
});
afterAll(async () => {
  await region.remove();
  await api.stop();
});

const deleteGroup = (...args: string[]) =>
  wallet('delete-group', '--outputs', region.outputs, '--group', group, '--caller', identityId, ...args);

const claimsOf = (token: unknown) =>
  JSON.parse(Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString());

it('sends one request, with a token and a user action of the caller, and prints the response', async () => {
  expect(await deleteGroup()).toEqual({ exitCode: 0, stdout: '200 {}\n', stderr: '' });
  expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual([`DELETE ${path}`]);
  const { authorization, 'x-svc-useraction': action } = requests[0]?.headers ?? {};
  const caller = { sub: identityId, org: organizationId };
  expect(authorization).toMatch(/^Bearer /);
  expect(claimsOf(authorization)).toMatchObject({ ...caller, aud: 'wallet-api', kind: 'CustomerEmployee' });
  expect(claimsOf(action)).toMatchObject({ ...caller, htm: 'DELETE', htp: path });
});

it('prints a refusal too, and exits with 1', async () => {
  refused = true;
  const { exitCode, stdout, stderr } = await deleteGroup('--json');
  expect({ exitCode, body: JSON.parse(stdout) }).toEqual({
    exitCode: 1,
    body: { status: 403, body: refusal },
  });
  expect(stderr).toBe(`error: The API did not delete ${group}: permission_missing.\n`);
});
