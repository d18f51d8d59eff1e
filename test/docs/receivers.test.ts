import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { transformSync } from 'esbuild';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { retrySchedule } from '../../domain/delivery';
import { secretText, sign } from '../../domain/signature';
import { projectRoot } from '../architecture/sources';
import { startHttpServer } from '../support/http-server';
import { openApi } from '../support/openapi';
import { temporaryFolder } from '../support/temporary-folder';

type Sent = Readonly<Record<string, string>>;
type Headers = Readonly<Record<string, unknown>> | Iterable<[string, string]>;
type Verify = (secret: string, headers: Headers, body: string | Uint8Array, now?: number) => boolean;

const folder = temporaryFolder();
const page = readFileSync(join(projectRoot, 'docs/receivers.md'), 'utf8');

/** The one block of code under a heading of the third level. */
function snippet(heading: string): string {
  const [, section = ''] = page.split(`\n### ${heading}\n`);
  return /^```(?:typescript|python|sh)\n([\s\S]*?)^```$/m.exec(section)?.[1] as string;
}

const asCommonJs = (code: string) => transformSync(code, { loader: 'ts', format: 'cjs' }).code;

const verify = (() => {
  const module = { exports: {} as { verify: Verify } };
  new Function('require', 'module', asCommonJs(snippet('TypeScript (Node.js)')))(require, module);
  return module.exports.verify;
})();

/** The test vector of the page. */
const vector = (() => {
  const rows = page.matchAll(/^\| `?(.*?)`? \| `(.*)` \|$/gm);
  const cells = Object.fromEntries(Array.from(rows, ([, name = '', value = '']) => [name, value]));
  const { secret = '', 'body, UTF-8': body = '' } = cells;
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const headers = Object.fromEntries(names.map((name) => [name, cells[name] ?? '']));
  return { secret, body, headers, timestamp: Number(headers['webhook-timestamp']) };
})();

const [key, other] = [randomBytes(32), randomBytes(32)];
const secret = secretText(key);
const invalidSecrets = ['', 'whsec_', secret.slice(0, -4)];

const body = ' {"id": "ev-1", "kind": "wallet.created", "data": ["€ 12", 12345678901234567890]}\n';
/** The headers that the product sends now, or so many seconds later. */
function headersOf(keys: [Uint8Array, ...Uint8Array[]], seconds = 0): Sent {
  const timestamp = Math.floor(Date.now() / 1_000) + seconds;
  const signature = sign({ id: 'msg_1', timestamp, body }, keys);
  return { 'webhook-id': 'msg_1', 'webhook-timestamp': `${timestamp}`, 'webhook-signature': signature };
}
const headers = headersOf([key]);
const { 'webhook-signature': signature = '', ...unsigned } = headers;
const { 'webhook-timestamp': _, ...untimed } = headers;

const deliveries: readonly (readonly [name: string, valid: boolean, headers: Sent, body?: string])[] = [
  ['as sent', true, headers],
  [
    'in capitals',
    true,
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value])),
  ],
  ['with the new secret first', true, headersOf([other, key])],
  ['with the old secret first', true, headersOf([key, other])],
  ['with another body', false, headers, `${body} `],
  ['with another id', false, { ...headers, 'webhook-id': 'msg_2' }],
  ['with a malformed time', false, { ...headers, 'webhook-timestamp': 'now' }],
  ['without a time', false, untimed],
  ['without a signature', false, unsigned],
  ['signed with another secret', false, headersOf([other])],
  ['with a truncated signature', false, { ...headers, 'webhook-signature': signature.slice(0, -4) }],
  ['an hour old', false, headersOf([key], -3_600)],
  ['of the future', false, headersOf([key], 3_600)],
];
const verdicts = deliveries.map(([name, valid]) => [name, valid]);

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

it.each<[string, (secret: string, headers: Sent, body: string) => boolean]>([
  ['the library', verifyWithLibrary],
  ['the TypeScript, with a plain object and text,', verify],
  [
    "the TypeScript, with Fetch's headers and bytes,",
    (secret, headers, body) => verify(secret, new Headers(headers), new TextEncoder().encode(body)),
  ],
])("%s accepts the product's deliveries, and refuses others", (_, accepts) => {
  const found = deliveries.map(([name, , sent, text = body]) => [name, accepts(secret, sent, text)]);
  expect(found).toEqual(verdicts);
});

it.each(invalidSecrets)('the TypeScript throws for the invalid secret "%s"', (invalid) => {
  expect(() => verify(invalid, {}, '')).toThrow('32 bytes');
});

/** Python is optional here; `npm run test:tools` requires it. */
if (spawnSync('python3', ['--version']).status === 0)
  it("the Python accepts the product's deliveries and the test vector at its time, and raises for invalid secrets", () => {
    const loop = `
import json, sys
for line in sys.stdin:
    try: print(json.dumps(verify(*json.loads(line))))
    except ValueError as error: print(json.dumps(str(error)))`;
    const vectorCall = [vector.secret, vector.headers, vector.body];
    const calls = [
      ...deliveries.map(([, , sent, text = body]) => [secret, sent, text]),
      ...[[...vectorCall, vector.timestamp], vectorCall],
      ...invalidSecrets.map((invalid) => [invalid, {}, '']),
    ];
    const input = calls.map((call) => `${JSON.stringify(call)}\n`).join('');
    const { stdout } = spawnSync('python3', ['-c', snippet('Python') + loop], { input, encoding: 'utf8' });
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      ...deliveries.map(([, valid]) => valid),
      ...[true, false],
      ...invalidSecrets.map(() => expect.stringContaining('32 bytes')),
    ]);
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

it('the test vector has the signature of the product and of the library, and verifies only at its time', () => {
  const { secret, headers, body, timestamp } = vector;
  const id = headers['webhook-id'] ?? '';
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  expect(secretText(key)).toBe(secret);
  expect(sign({ id, timestamp, body }, [key])).toBe(headers['webhook-signature']);
  expect(new Webhook(secret).sign(id, new Date(timestamp * 1000), body)).toBe(headers['webhook-signature']);
  expect(verify(secret, headers, body, timestamp)).toBe(true);
  expect(verify(secret, headers, body)).toBe(false);
});

it('the test vector is the example of the OpenAPI document', () => {
  const { secret, headers, body } = vector;
  const { parameters, requestBody, ...post } = openApi.webhooks.event.post;
  expect(post['x-test-vector']).toEqual({ secret, body });
  const examples = parameters.map((each: { name: string; example: unknown }) => [each.name, each.example]);
  expect(Object.fromEntries(examples)).toEqual({
    ...headers,
    'X-SVC-WEBHOOK-SIGNATURE': headers['webhook-signature'],
    'Svc-Signature': headers['webhook-signature'],
  });
  expect(requestBody.content['application/json'].example).toEqual(JSON.parse(body));
});

it('the TypeScript compiles in a strict project, with the headers of Node.js, Fetch and API Gateway', () => {
  const callers = `
    import { verify } from './verify';
    declare const given:
      import('node:http').IncomingHttpHeaders | Headers | import('aws-lambda').APIGatewayProxyEventHeaders;
    export const isOurs: boolean = verify('whsec_', given, '') && verify('whsec_', given, Buffer.from(''));`;
  symlinkSync(join(projectRoot, 'node_modules'), join(folder(), 'node_modules'));
  writeFileSync(join(folder(), 'verify.ts'), snippet('TypeScript (Node.js)'));
  writeFileSync(join(folder(), 'callers.ts'), callers);
  const options = '--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --noEmit --skipLibCheck';
  const args = ['callers.ts', ...options.split(' '), '--module', 'preserve', '--types', 'node'];
  const tsc = join(projectRoot, 'node_modules/.bin/tsc');
  const { stdout, status } = spawnSync(tsc, args, { cwd: folder(), encoding: 'utf8' });
  expect([stdout, status]).toEqual(['', 0]);
});

it('the page lists the time of every attempt', () => {
  const cells = Array.from(page.matchAll(/\| (\d+) \| (\d+):(\d\d):(\d\d) (?=\|)/g), (match) => {
    const [attempt = 0, hours = 0, minutes = 0, seconds = 0] = match.slice(1).map(Number);
    return { attempt, time: ((hours * 60 + minutes) * 60 + seconds) * 1_000 };
  });
  expect(cells.sort((one, other) => one.attempt - other.attempt)).toEqual(
    retrySchedule.map((time, index) => ({ attempt: index + 1, time })),
  );
});
