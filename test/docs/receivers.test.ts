import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { transformSync } from 'esbuild';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { type SignedContent, secretText, sign } from '../../domain/webhook-secrets';
import { retrySchedule } from '../../lambda/deliver-webhook/retry-schedule';
import { projectRoot } from '../architecture/sources';
import { openApi } from '../support/openapi';
import { temporaryFolder } from '../support/temporary-folder';

type Headers = Readonly<Record<string, unknown>> | Iterable<[string, string]>;
type Verify = (secret: string, headers: Headers, body: string | Uint8Array, now?: number) => boolean;

const page = readFileSync(join(projectRoot, 'docs/receivers.md'), 'utf8');

/** The one block of code under a heading of the third level. */
function snippet(heading: string): string {
  const [, section = ''] = page.split(`\n### ${heading}\n`);
  return /^```(?:typescript|python)\n([\s\S]*?)^```$/m.exec(section)?.[1] as string;
}

const asCommonJs = (code: string) => transformSync(code, { loader: 'ts', format: 'cjs' }).code;

const verify = (() => {
  const module = { exports: {} as { verify: Verify } };
  new Function('require', 'module', asCommonJs(snippet('TypeScript (Node.js)')))(require, module);
  return module.exports.verify;
})();

const vector = (() => {
  const rows = page.matchAll(/^\| `?(.*?)`? \| `(.*)` \|$/gm);
  const cells = Object.fromEntries(Array.from(rows, ([, name = '', value = '']) => [name, value]));
  const { secret = '', 'body, UTF-8': body = '' } = cells;
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const headers = Object.fromEntries(names.map((name) => [name, cells[name] ?? '']));
  return { secret, body, headers, timestamp: Number(headers['webhook-timestamp']) };
})();

const key = randomBytes(32);
const secret = secretText(key);
const invalidSecrets = ['', 'whsec_', secret.slice(0, -4)];

const now = () => Math.floor(Date.now() / 1_000);
const contentAt = (timestamp: number): SignedContent => ({
  id: 'msg_1',
  timestamp,
  body: ' {"id": "ev-1", "kind": "wallet.created", "data": ["€ 12", 12345678901234567890]}\n',
});
const headersOf = ({ id, timestamp }: SignedContent, signature: string) => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': signature,
});

/** Expects a receiver to accept and refuse deliveries that the product signs. */
function itVerifies(
  accepts: (headers: Readonly<Record<string, string>>, body: string) => boolean | Promise<boolean>,
): void {
  const other = randomBytes(32);
  const signed = contentAt(now());
  const signature = sign(signed, [key]);
  const headers = headersOf(signed, signature);

  it.each<[string, Readonly<Record<string, string>>]>([
    ['as they are sent', headers],
    [
      'in capitals',
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value])),
    ],
    ['with the new secret first', headersOf(signed, sign(signed, [other, key]))],
    ['with the old secret first', headersOf(signed, sign(signed, [key, other]))],
  ])('accepts headers %s', async (_, given) => {
    expect(await accepts(given, signed.body)).toBe(true);
  });

  it.each<[string, Readonly<Record<string, string | undefined>>, string]>([
    ['another body', {}, `${signed.body} `],
    ['an empty body', {}, ''],
    ['another id', { 'webhook-id': 'msg_2' }, signed.body],
    ['no id', { 'webhook-id': undefined }, signed.body],
    ['another time', { 'webhook-timestamp': String(signed.timestamp + 1) }, signed.body],
    ['a malformed time', { 'webhook-timestamp': 'now' }, signed.body],
    ['no time', { 'webhook-timestamp': undefined }, signed.body],
    ['an empty signature', { 'webhook-signature': '' }, signed.body],
    ['no signature', { 'webhook-signature': undefined }, signed.body],
    ['a signature with another secret', { 'webhook-signature': sign(signed, [other]) }, signed.body],
    ['a truncated signature', { 'webhook-signature': signature.slice(0, -4) }, signed.body],
    ['a signature of another version', { 'webhook-signature': signature.replace('v1', 'v2') }, signed.body],
  ])('refuses %s', async (_, change, body) => {
    const sent = Object.entries({ ...headers, ...change }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    expect(await accepts(Object.fromEntries(sent), body)).toBe(false);
  });

  it.each([-3_600, 3_600])('refuses a timestamp %i seconds from now', async (seconds) => {
    const away = contentAt(now() + seconds);
    expect(await accepts(headersOf(away, sign(away, [key])), away.body)).toBe(false);
  });
}

it('needs no file of this repository', () => {
  const links = Array.from(page.matchAll(/\]\(([^)]+)\)/g), ([, link = '']) => link);
  expect(links.filter((link) => !/^(https:|#)/.test(link))).toEqual([]);
});

it('lists the time of every attempt', () => {
  const milliseconds = (text: string) => {
    const [hours = 0, minutes = 0, seconds = 0] = text.split(':').map(Number);
    return ((hours * 60 + minutes) * 60 + seconds) * 1_000;
  };
  const cells = Array.from(
    page.matchAll(/\| (\d+) \| (\d+:\d\d:\d\d) (?=\|)/g),
    ([, attempt, time = '']) => ({ attempt: Number(attempt), time: milliseconds(time) }),
  );
  expect(cells.sort((one, other) => one.attempt - other.attempt)).toEqual(
    retrySchedule.map((time, index) => ({ attempt: index + 1, time })),
  );
});

describe('the library', () => {
  const run = new Function('require', 'secret', 'body', 'headers', asCommonJs(snippet('With the library')));
  itVerifies((headers, body) => {
    try {
      run(require, secret, body, headers);
      return true;
    } catch (error) {
      if (error instanceof WebhookVerificationError) return false;
      throw error;
    }
  });
});

describe('the TypeScript', () => {
  describe('with a plain object and text', () =>
    itVerifies((headers, body) => verify(secret, headers, body)));

  describe("with Fetch's headers and bytes", () =>
    itVerifies((headers, body) => verify(secret, new Headers(headers), new TextEncoder().encode(body))));

  describe('with lists of values', () =>
    itVerifies((headers, body) => {
      const lists = Object.entries(headers).map(([name, value]) => [name, [value]]);
      return verify(secret, Object.fromEntries(lists), body);
    }));

  it.each(invalidSecrets)('throws for the invalid secret "%s"', (invalid) => {
    expect(() => verify(invalid, {}, '')).toThrow('32 bytes');
  });
});

/** Python is optional here; `npm run test:tools` requires it. */
if (spawnSync('python3', ['--version']).status === 0)
  describe('the Python', () => {
    let python: ChildProcessWithoutNullStreams;
    let answers: AsyncIterator<string>;
    beforeAll(() => {
      const loop = `
import json, sys
for line in sys.stdin:
    try: print(json.dumps(verify(*json.loads(line))))
    except ValueError as error: print(json.dumps(str(error)))`;
      python = spawn('python3', ['-uc', snippet('Python') + loop]);
      answers = createInterface(python.stdout)[Symbol.asyncIterator]();
    });
    afterAll(async () => {
      python.stdin.end();
      await once(python, 'close');
    });
    const ask = async (...args: Parameters<Verify>) => {
      python.stdin.write(`${JSON.stringify(args)}\n`);
      return JSON.parse((await answers.next()).value);
    };

    itVerifies((headers, body) => ask(secret, headers, body));

    it.each(invalidSecrets)('raises for the invalid secret "%s"', async (invalid) => {
      expect(await ask(invalid, {}, '')).toContain('32 bytes');
    });

    it('verifies the test vector, only at its time', async () => {
      expect(await ask(vector.secret, vector.headers, vector.body, vector.timestamp)).toBe(true);
      expect(await ask(vector.secret, vector.headers, vector.body)).toBe(false);
    });
  });

describe('the test vector', () => {
  const { secret, headers, body, timestamp } = vector;
  const id = headers['webhook-id'] ?? '';

  it('has the signature of the product and of the library', () => {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    expect(secretText(key)).toBe(secret);
    expect(sign({ id, timestamp, body }, [key])).toBe(headers['webhook-signature']);
    expect(new Webhook(secret).sign(id, new Date(timestamp * 1000), body)).toBe(headers['webhook-signature']);
  });

  it('is verified by the TypeScript, only at its time', () => {
    expect(verify(secret, headers, body, timestamp)).toBe(true);
    expect(verify(secret, headers, body)).toBe(false);
  });

  it('is the example of the OpenAPI document', () => {
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
});

describe('the types of the TypeScript', () => {
  const folder = temporaryFolder();
  const callers = `
    import type { APIGatewayProxyEventHeaders } from 'aws-lambda';
    import type { IncomingHttpHeaders } from 'node:http';
    import { verify } from './verify';
    declare const given: IncomingHttpHeaders | Headers | Map<string, string> | APIGatewayProxyEventHeaders;
    declare const body: string | Buffer | Uint8Array;
    export const isOurs: boolean = verify('whsec_', given, body);
    // @ts-expect-error: a parsed body
    verify('whsec_', given, { id: 'evt_1' });`;

  it.each([
    ['Node.js', 'es2022'],
    ['a browser, as Next.js has them', 'es2022,dom,dom.iterable'],
  ])('are strict, and accept the headers of frameworks, with the types of %s', (_, lib) => {
    symlinkSync(join(projectRoot, 'node_modules'), join(folder(), 'node_modules'));
    writeFileSync(join(folder(), 'verify.ts'), snippet('TypeScript (Node.js)'));
    writeFileSync(join(folder(), 'callers.ts'), callers);
    const strict = '--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --noUnusedLocals';
    const rest = `--noEmit --esModuleInterop --skipLibCheck --module preserve --types node --target es2022 --lib ${lib}`;
    const args = ['verify.ts', 'callers.ts', ...strict.split(' '), ...rest.split(' ')];
    const tsc = join(projectRoot, 'node_modules/.bin/tsc');
    const { stdout, status } = spawnSync(tsc, args, { cwd: folder(), encoding: 'utf8' });
    expect([stdout, status]).toEqual(['', 0]);
  });
});
