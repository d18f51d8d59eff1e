import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { transformSync } from 'esbuild';
import { fastify } from 'fastify';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { attemptReasons, retrySchedule } from '../../domain/delivery';
import { load } from '../support/documents';
import { startHttpServer } from '../support/http-server';
import { openApi } from '../support/openapi';
import {
  argumentsIn,
  body,
  deliveries,
  hostileHeaders,
  invalidSecrets,
  page,
  type Sent,
  secret,
  snippet,
  vector,
} from './deliveries';

type Headers = Readonly<Record<string, unknown>> | Iterable<[string, string]>;
type Verify = (secret: string, headers: Headers, body: string | Uint8Array, now?: number) => boolean;

const { verify } = load<{ verify: Verify }>(snippet('TypeScript (Node.js)'));

it('says for each reason of an attempt what to look at', () => {
  const [, section = ''] = page.split('\n### Why an attempt fails\n');
  const rows = section.split('\n## ', 1)[0]?.matchAll(/^\| (`.*?`) \| \S.* \|$/gm) ?? [];
  const documented = Array.from(rows, ([, reasons = '']) => reasons.replaceAll('`', '').split(', ')).flat();
  expect(documented.sort()).toEqual([...attemptReasons].sort());
});

const library = transformSync(snippet('With the library'), { loader: 'ts', format: 'cjs' }).code;
const run = new Function('require', 'secret', 'body', 'headers', library);
function verifyWithLibrary(_: string, headers: Sent, body: string) {
  try {
    run(require, secret, body, headers);
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

const verifyFetched = (secret: string, headers: Sent, body: string) =>
  verify(secret, new Headers(headers), new TextEncoder().encode(body));
it.each([
  ['the library', verifyWithLibrary],
  ['the TypeScript, with a plain object and text,', verify],
  ["the TypeScript, with Fetch's headers and bytes,", verifyFetched],
])("%s accepts the product's deliveries, and refuses others", (_, accepts) => {
  const found = deliveries.map(([name, , sent, text = body]) => [name, accepts(secret, sent, text)]);
  expect(found).toEqual(deliveries.map(([name, valid]) => [name, valid]));
});

it('the TypeScript refuses hostile headers and hostile text, and throws for invalid secrets', () => {
  for (const invalid of invalidSecrets) expect(() => verify(invalid, {}, '')).toThrow('32 bytes');
  for (const hostile of hostileHeaders) {
    expect([hostile, verify(secret, hostile, body)]).toEqual([hostile, false]);
    expect(verify(secret, hostile, '\ud800')).toBe(false);
  }
});

type Read = (given: { readonly request?: unknown; readonly event?: object }) => Promise<void>;
/** Each passes a request, as its framework does, to a handler that reads it. */
const frameworks: Readonly<Record<string, (read: Read, headers: Sent, text: string) => Promise<unknown>>> = {
  async 'Node.js'(read, headers, body) {
    const server = await startHttpServer((request, response) =>
      read({ request }).finally(() => response.end()),
    );
    await fetch(server.url, { method: 'POST', headers, body }).finally(() => server.stop());
  },
  /** It parses JSON, unless the guide's parser is added. */
  async Fastify(read, sent, payload) {
    const app = fastify();
    new Function('app', argumentsIn('Fastify').setup)(app);
    app.post('/', (request) => read({ request }));
    const headers = { 'content-type': 'application/json', ...sent };
    await app.inject({ method: 'POST', url: '/', headers, payload });
    await app.close();
  },
  /** What the Functions Framework 5 passes to a function: it has parsed the body, and read the stream to its end. */
  'Cloud Functions': (read, headers, text) => {
    const given = { headers, body: JSON.parse(text), rawBody: Buffer.from(text) };
    return read({ request: Object.assign(Readable.from([]), given) });
  },
  'a Fetch handler': (read, headers, body) =>
    read({ request: new Request('http://a.example', { method: 'POST', headers, body }) }),
  async 'Lambda behind API Gateway or a function URL'(read, headers, body) {
    await read({ event: { headers, body, isBase64Encoded: false } });
    const base64 = Buffer.from(body).toString('base64');
    await read({ event: { headers, body: base64, isBase64Encoded: true } });
  },
};
const passing = Object.entries(frameworks);
it.each(passing)("in %s, the guide's arguments verify the product's deliveries", async (framework, pass) => {
  const { body: ofBody, headers: ofHeaders } = argumentsIn(framework);
  const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;
  const readers = ['buffer', 'request', 'event'];
  const argumentsOf = new AsyncFunction(...readers, `return [${ofBody}, ${ofHeaders}]`);
  for (const [name, isValid, sent, text = body] of deliveries) {
    const found = new Set<boolean>();
    const read: Read = async ({ request, event }) => {
      const [raw, headers] = await argumentsOf(buffer, request, event);
      found.add(verifyWithLibrary(secret, headers, raw)).add(verify(secret, headers, raw));
    };
    await pass(read, sent, text);
    expect([name, ...found]).toEqual([name, isValid]);
  }
});

it('the test vector is that of the OpenAPI document, and verifies only at its time', () => {
  const { secret, headers, body, timestamp } = vector;
  const { 'webhook-id': id = '', 'webhook-signature': signature } = headers;
  expect(new Webhook(secret).sign(id, new Date(timestamp * 1000), body)).toBe(signature);
  expect([verify(secret, headers, body, timestamp), verify(secret, headers, body)]).toEqual([true, false]);

  const { parameters, requestBody, ...post } = openApi.webhooks.event.post;
  expect(post['x-test-vector']).toEqual({ secret, body });
  expect(requestBody.content['application/json'].example).toEqual(JSON.parse(body));
  const examples = parameters.map((each: { name: string; example: unknown }) => [each.name, each.example]);
  const others = { 'X-SVC-WEBHOOK-SIGNATURE': signature, 'Svc-Signature': signature };
  expect(Object.fromEntries(examples)).toEqual({ ...headers, ...others });
});

it('the page lists the time of every attempt', () => {
  const cells = Array.from(page.matchAll(/\| (\d+) \| (\d+):(\d\d):(\d\d) (?=\|)/g), (match) => {
    const [attempt = 0, hours = 0, minutes = 0, seconds = 0] = match.slice(1).map(Number);
    return [attempt - 1, ((hours * 60 + minutes) * 60 + seconds) * 1_000];
  });
  expect(Object.fromEntries(cells)).toEqual({ ...retrySchedule });
});
