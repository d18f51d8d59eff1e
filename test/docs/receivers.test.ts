import { spawn, spawnSync } from 'node:child_process';
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
const contentAt = (seconds: number): SignedContent => ({
  id: 'msg_1',
  timestamp: Math.floor(Date.now() / 1_000) + seconds,
  body,
});
const headersOf = (content: SignedContent, ...keys: [Uint8Array, ...Uint8Array[]]) => ({
  'webhook-id': content.id,
  'webhook-timestamp': String(content.timestamp),
  'webhook-signature': sign(content, keys),
});
const headers = headersOf(contentAt(0), key);
const signature = headers['webhook-signature'];

type Sent = Readonly<Record<string, string | undefined>>;
const accepted: Readonly<Record<string, Sent>> = {
  'as they are sent': headers,
  'in capitals': Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
  ),
  'with the new secret first': headersOf(contentAt(0), other, key),
  'with the old secret first': headersOf(contentAt(0), key, other),
};
const refused: Readonly<Record<string, readonly [change: Sent, body?: string]>> = {
  'another body': [{}, `${body} `],
  'an empty body': [{}, ''],
  'another id': [{ 'webhook-id': 'msg_2' }],
  'no id': [{ 'webhook-id': undefined }],
  'another time': [{ 'webhook-timestamp': String(contentAt(1).timestamp) }],
  'a malformed time': [{ 'webhook-timestamp': 'now' }],
  'no time': [{ 'webhook-timestamp': undefined }],
  'an empty signature': [{ 'webhook-signature': '' }],
  'no signature': [{ 'webhook-signature': undefined }],
  'a signature with another secret': [{ 'webhook-signature': sign(contentAt(0), [other]) }],
  'a truncated signature': [{ 'webhook-signature': signature.slice(0, -4) }],
  'a signature of another version': [{ 'webhook-signature': signature.replace('v1', 'v2') }],
  'an old delivery': [headersOf(contentAt(-3_600), key)],
  'one of the future': [headersOf(contentAt(3_600), key)],
};

/** Verifies deliveries that the product signs, and others. */
function itVerifies(
  what: string,
  accepts: (headers: Readonly<Record<string, string>>, body: string) => boolean | Promise<boolean>,
): void {
  it(`${what} accepts the product's headers, and refuses others`, async () => {
    for (const [name, sent] of Object.entries(accepted))
      expect([name, await accepts(sent as Readonly<Record<string, string>>, body)]).toEqual([name, true]);
    for (const [name, [change, received = body]] of Object.entries(refused)) {
      const sent = Object.entries({ ...headers, ...change }).filter(([, value]) => value !== undefined);
      expect([name, await accepts(Object.fromEntries(sent), received)]).toEqual([name, false]);
    }
  });
}

const run = new Function('require', 'secret', 'body', 'headers', asCommonJs(snippet('With the library')));
itVerifies('the library', (headers, body) => {
  try {
    run(require, secret, body, headers);
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
});
itVerifies('the TypeScript, with a plain object and text,', (headers, body) => verify(secret, headers, body));
itVerifies("the TypeScript, with Fetch's headers and bytes,", (headers, body) =>
  verify(secret, new Headers(headers), new TextEncoder().encode(body)),
);
itVerifies('the TypeScript, with lists of values,', (headers, body) =>
  verify(secret, Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])), body),
);

it.each(invalidSecrets)('the TypeScript throws for the invalid secret "%s"', (invalid) => {
  expect(() => verify(invalid, {}, '')).toThrow('32 bytes');
});

/** Python is optional here; `npm run test:tools` requires it. */
if (spawnSync('python3', ['--version']).status === 0)
  describe('the Python', () => {
    const loop = `
import json, sys
for line in sys.stdin:
    try: print(json.dumps(verify(*json.loads(line))))
    except ValueError as error: print(json.dumps(str(error)))`;
    const python = spawn('python3', ['-uc', snippet('Python') + loop]);
    const answers = createInterface(python.stdout)[Symbol.asyncIterator]();
    afterAll(async () => {
      python.stdin.end();
      await once(python, 'close');
    });
    const ask = async (...args: Parameters<Verify>) => {
      python.stdin.write(`${JSON.stringify(args)}\n`);
      return JSON.parse((await answers.next()).value);
    };

    itVerifies('it', (headers, body) => ask(secret, headers, body));

    it('raises for an invalid secret', async () => {
      for (const invalid of invalidSecrets) expect(await ask(invalid, {}, '')).toContain('32 bytes');
    });

    it('verifies the test vector, only at its time', async () => {
      expect(await ask(vector.secret, vector.headers, vector.body, vector.timestamp)).toBe(true);
      expect(await ask(vector.secret, vector.headers, vector.body)).toBe(false);
    });
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

it('the page stands alone, and lists the time of every attempt', () => {
  const links = Array.from(page.matchAll(/\]\(([^)]+)\)/g), ([, link = '']) => link);
  expect(links.filter((link) => !/^(https:|#)/.test(link))).toEqual([]);
  const cells = Array.from(page.matchAll(/\| (\d+) \| (\d+):(\d\d):(\d\d) (?=\|)/g), (match) => {
    const [attempt = 0, hours = 0, minutes = 0, seconds = 0] = match.slice(1).map(Number);
    return { attempt, time: ((hours * 60 + minutes) * 60 + seconds) * 1_000 };
  });
  expect(cells.sort((one, other) => one.attempt - other.attempt)).toEqual(
    retrySchedule.map((time, index) => ({ attempt: index + 1, time })),
  );
});
