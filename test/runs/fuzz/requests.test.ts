import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import type { TokenMaker } from '../../support/api';
import type { Organization } from '../../support/organization';
import { editText, generatedRequest, toWire } from './generated-request';
import { sendPatiently } from './hold-requests';

/** Makes tokens that say what they were asked for. */
const told = async (_: Organization, claims = {}, header = {}) =>
  Buffer.from(JSON.stringify([claims, header])).toString('base64url');
const tokens: TokenMaker = { accessToken: told, userAction: told };
const organization = { userGroupId: 'ug-aaaaa-bbbbb-cccccccccccccccc' } as Organization;

it('a request that was kept as JSON is the same request again', async () => {
  await fc.assert(
    fc.asyncProperty(generatedRequest, async (request) => {
      const kept = JSON.parse(JSON.stringify(request));
      expect(await toWire(kept, organization, tokens)).toEqual(await toWire(request, organization, tokens));
    }),
    { numRuns: 500 },
  );
});

it('a token with one bit changed is another token, whichever bit of whichever character', () => {
  const token = 'aZ0-_.';
  const edits = Array.from(token, (_, at) => [0, 1, 2, 3, 4, 5].map((bit) => editText(token, { at, bit })));
  expect(edits.flat()).not.toContain(token);
});

describe('a throttle that never lets a request through', () => {
  let server: Server;
  beforeAll(async () => {
    const problem = {
      type: 'urn:wallet-infrastructure:problem:too_many_requests',
      title: 'Too Many Requests',
      status: 429,
      detail: 'The rate is used up.',
      code: 'too_many_requests',
      requestId: 'request',
    };
    server = createServer((_, response) =>
      response
        .writeHead(429, { 'content-type': 'application/problem+json', 'retry-after': '1' })
        .end(JSON.stringify(problem)),
    );
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('ends the run with words', async () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await expect(sendPatiently(url, { path: '/auth/user-groups/ug-1' }, 120)).rejects.toThrow(
      'Nothing but 429 within 0.12 s',
    );
  });
});
