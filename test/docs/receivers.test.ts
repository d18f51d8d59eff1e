import { execFile, spawnSync } from 'node:child_process';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { promisify } from 'node:util';
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
} from './deliveries';

type Headers = Readonly<Record<string, unknown>> | Iterable<[string, string]>;
type Verify = (secret: string, headers: Headers, body: string | Uint8Array, now?: number) => boolean;

const asCommonJs = (code: string) => transformSync(code, { loader: 'ts', format: 'cjs' }).code;

const { verify } = load<{ verify: Verify }>(snippet('TypeScript (Node.js)'));

/** The test vector of the page. */
const vector = (() => {
  const rows = page.matchAll(/^\| `?(.*?)`? \| `(.*)` \|$/gm);
  const cells = Object.fromEntries(Array.from(rows, ([, name = '', value = '']) => [name, value]));
  const { secret = '', 'body, UTF-8': body = '' } = cells;
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const headers = Object.fromEntries(names.map((name) => [name, cells[name] ?? '']));
  return { secret, body, headers, timestamp: Number(headers['webhook-timestamp']) };
})();

it('says for each reason of an attempt what to look at', () => {
  const [, section = ''] = page.split('\n### Why an attempt fails\n');
  const rows = section.split('\n## ', 1)[0]?.matchAll(/^\| (`.*?`) \| \S.* \|$/gm) ?? [];
  const documented = Array.from(rows, ([, reasons = '']) => reasons.replaceAll('`', '').split(', ')).flat();
  expect(documented.sort()).toEqual([...attemptReasons].sort());
});

const run = new Function('require', 'secret', 'body', 'headers', asCommonJs(snippet('With the library')));
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

it('the TypeScript refuses hostile headers, and hostile text', () => {
  for (const hostile of hostileHeaders) {
    expect([hostile, verify(secret, hostile, body)]).toEqual([hostile, false]);
    expect(verify(secret, hostile, '\ud800')).toBe(false);
  }
});

/** The guide's arguments for a framework of JavaScript. */
function readerFor(framework: string) {
  const { body, headers } = argumentsIn(framework);
  const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;
  const read = new AsyncFunction('buffer', 'request', 'event', `return [${body}, ${headers}]`);
  return (given: { readonly request?: unknown; readonly event?: object }) =>
    read(buffer, given.request, given.event) as Promise<[body: string, headers: Sent]>;
}
const json = { 'content-type': 'application/json' };
type Arguments = readonly [body: string, headers: Sent];

/** A server of Node.js, and what its handler reads from a request. */
async function throughNode(sent: Sent, text: string): Promise<Arguments> {
  const read = readerFor('Node.js');
  let found: Promise<Arguments> | undefined;
  const server = await startHttpServer(async (request, response) => {
    found = read({ request });
    await found;
    response.end();
  });
  await fetch(server.url, { method: 'POST', headers: sent, body: text }).finally(() => server.stop());
  return found as Promise<Arguments>;
}
/** Fastify parses JSON, unless the guide's parser is added. */
async function throughFastify(headers: Sent, text: string): Promise<Arguments> {
  const { setup } = argumentsIn('Fastify');
  const app = fastify();
  new Function('app', setup)(app);
  let found: Promise<Arguments> | undefined;
  app.post('/', async (request) => {
    found = readerFor('Fastify')({ request });
    await found;
    return '';
  });
  await app.inject({ method: 'POST', url: '/', headers: { ...json, ...headers }, payload: text });
  await app.close();
  return found as Promise<Arguments>;
}
/** What the Functions Framework 5 passes to a function: it has parsed the body, and read the stream to its end. */
const throughCloudFunctions = (headers: Sent, text: string) =>
  readerFor('Cloud Functions')({
    request: Object.assign(Readable.from([]), {
      headers,
      body: JSON.parse(text),
      rawBody: Buffer.from(text),
    }),
  });
const throughLambda = (isBase64Encoded: boolean) => (headers: Sent, text: string) => {
  const body = Buffer.from(text).toString(isBase64Encoded ? 'base64' : 'utf8');
  return readerFor('Lambda behind API Gateway or a function URL')({
    event: { headers, body, isBase64Encoded },
  });
};
it.each<[string, (headers: Sent, text: string) => Promise<Arguments>]>([
  ['Node.js', throughNode],
  ['Fastify', throughFastify],
  ['Cloud Functions', throughCloudFunctions],
  [
    'a Fetch handler',
    (headers, body) =>
      readerFor('a Fetch handler')({
        request: new Request('http://a.example', { method: 'POST', headers, body }),
      }),
  ],
  ['Lambda, with a body in base64', throughLambda(true)],
  ['Lambda, with a text', throughLambda(false)],
])(
  "in %s, the library and the TypeScript accept the product's deliveries with the guide's arguments",
  async (_, through) => {
    for (const [name, isValid, sent, text = body] of deliveries) {
      const [raw, headers] = await through(sent, text);
      const found = [verifyWithLibrary(secret, headers, raw), verify(secret, headers, raw)];
      expect([name, ...found]).toEqual([name, isValid, isValid]);
    }
  },
);

it('the TypeScript throws for invalid secrets', () => {
  for (const invalid of invalidSecrets) expect(() => verify(invalid, {}, '')).toThrow('32 bytes');
});

/** curl and OpenSSL are optional. */
if (['curl', 'openssl'].every((tool) => spawnSync(tool, ['--version']).error === undefined))
  it('the curl sends a delivery that the TypeScript accepts', async () => {
    const received: boolean[] = [];
    const server = await startHttpServer(async (request, response) => {
      received.push(verify(vector.secret, request.headers, await text(request)));
      response.writeHead(204).end();
    });
    try {
      const script = snippet('curl').replace('http://127.0.0.1:3000/', server.url);
      const { stdout } = await promisify(execFile)('sh', ['-c', script]);
      expect(stdout).toContain('204');
      expect(received).toEqual([true]);
    } finally {
      await server.stop();
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
