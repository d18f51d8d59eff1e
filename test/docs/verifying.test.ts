import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { transformSync } from 'esbuild';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { secretText, sign } from '../../domain/webhook-secrets';
import { projectRoot } from '../architecture/sources';
import { readDocuments } from '../support/documents';
import { type HttpServer, startHttpServer } from '../support/http-server';
import { openApi } from '../support/openapi';
import { deliverySignedBy, itVerifies, postTo, receiverSecret } from '../support/receiver-conformance';
import { codeBlocks, receiverSnippet } from '../support/receiver-snippets';
import { temporaryFolder } from '../support/temporary-folder';

type Headers = Readonly<Record<string, unknown>> | Iterable<[string, string]>;
type Verify = (secret: string, headers: Headers, body: string | Uint8Array, now?: number) => boolean;

/** Runs a snippet, and what it imports from beside it. */
function load(heading: string): Record<string, unknown> {
  const { code } = transformSync(receiverSnippet(heading), { loader: 'ts', format: 'cjs' });
  const module = { exports: {} };
  const resolve = (name: string) => (name === './verify' ? load('TypeScript (Node.js)') : require(name));
  const process = { env: { WEBHOOK_SECRET: receiverSecret } };
  new Function('require', 'module', 'process', 'console', code)(resolve, module, process, { log: () => {} });
  return module.exports;
}

const verify = load('TypeScript (Node.js)').verify as Verify;

/** The vector of the page. */
const vector = (() => {
  const page = readDocuments().find(({ path }) => path === 'docs/receivers-verifying.md')?.text ?? '';
  const rows = page.matchAll(/^\| `?(.*?)`? \| `(.*)` \|$/gm);
  const cells = Object.fromEntries(Array.from(rows, ([, name = '', value = '']) => [name, value]));
  const { secret = '', 'body, UTF-8': body = '', ...headers } = cells;
  return {
    secret,
    body,
    headers,
    id: headers['webhook-id'] ?? '',
    timestamp: Number(headers['webhook-timestamp']),
  };
})();

const notSecrets = ['', 'whsec_', receiverSecret.slice(0, -4)];
const status = (isOurs: boolean) => (isOurs ? 204 : 401);

it('every snippet of the documents is one that runs in a test', () => {
  // SQL runs in test/docs/copy-groups.test.ts; Flask, FastAPI and Go in test/tools/frameworks.tool.ts; the others here.
  const notCode = ['', 'sh', 'json', 'diff', 'mermaid', 'sql'];
  const shown = codeBlocks().filter(({ language }) => !notCode.includes(language));
  expect(shown.map(({ path, heading }) => `${path}: ${heading}`)).toEqual([
    'README.md: Receive webhooks',
    ...[...['TypeScript (Node.js)', 'Express', 'Next.js'], ...['Python', 'Flask', 'FastAPI'], 'Go'].map(
      (heading) => `docs/receivers-verifying.md: ${heading}`,
    ),
  ]);
});

describe("the front page's lines with the standardwebhooks package", () => {
  const lines = codeBlocks().find(({ path, language }) => path === 'README.md' && language === 'ts');
  const { code } = transformSync(lines?.code ?? '', { loader: 'ts', format: 'cjs' });
  const run = new Function('require', 'secret', 'body', 'headers', code);
  itVerifies((headers, body) => {
    try {
      run(require, receiverSecret, body, headers);
      return 204;
    } catch (error) {
      if (error instanceof WebhookVerificationError) return 401;
      throw error;
    }
  });
});

describe('the TypeScript', () => {
  describe('with a plain object and text', () =>
    itVerifies((headers, body) => status(verify(receiverSecret, headers, body))));

  describe("with Fetch's headers and bytes", () =>
    itVerifies((headers, body) =>
      status(verify(receiverSecret, new Headers(headers), new TextEncoder().encode(body))),
    ));

  describe('with lists of values', () =>
    itVerifies((headers, body) => {
      const lists = Object.entries(headers).map(([name, value]) => [name, [value]]);
      return status(verify(receiverSecret, Object.fromEntries(lists), body));
    }));

  it.each(notSecrets)('takes no verdict by "%s", which is no secret', (secret) => {
    expect(() => verify(secret, {}, '')).toThrow('32 bytes');
  });
});

/** Python is not on every machine that has Node.js; `npm run test:tools` has it for sure, with its frameworks. */
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
      python = spawn('python3', ['-uc', receiverSnippet('Python') + loop]);
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

    itVerifies(async (headers, body) => status(await ask(receiverSecret, headers, body)));

    it.each(notSecrets)('takes no verdict by "%s", which is no secret', async (secret) => {
      expect(await ask(secret, {}, '')).toContain('32 bytes');
    });

    it('verifies the test vector, at its time', async () => {
      const { secret, headers, body, timestamp } = vector;
      expect(await ask(secret, headers, body, timestamp)).toBe(true);
      expect(await ask(secret, headers, body)).toBe(false);
    });
  });

describe('Express', () => {
  let server: HttpServer;
  beforeAll(async () => {
    server = await startHttpServer(load('Express').app as RequestListener);
  });
  afterAll(() => server.stop());
  itVerifies((headers, body) => postTo(server.port, headers, body));

  it('refuses a body that no parser has left to it', async () => {
    const { headers, body } = deliverySignedBy(Buffer.from(receiverSecret.replace('whsec_', ''), 'base64'));
    expect(await postTo(server.port, headers, body)).toBe(204);
    expect(await postTo(server.port, { ...headers, 'content-type': 'text/plain' }, body)).toBe(401);
  });
});

/** It is a function of Fetch's own request: Next.js adds nothing to it that a test would meet. */
describe('a route handler of Next.js', () => {
  const { POST } = load('Next.js') as { POST: (request: Request) => Promise<Response> };
  itVerifies(async (headers, body) => {
    const request = new Request('http://127.0.0.1/webhooks', { method: 'POST', headers, body });
    return (await POST(request)).status;
  });
});

describe('the test vector', () => {
  const { secret, headers, body, id, timestamp } = vector;

  it('is what the product and the library sign', () => {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    expect(secretText(key)).toBe(secret);
    expect(sign({ id, timestamp, body }, [key])).toBe(headers['webhook-signature']);
    expect(new Webhook(secret).sign(id, new Date(timestamp * 1000), body)).toBe(headers['webhook-signature']);
  });

  it('is verified by the TypeScript, at its time', () => {
    expect(verify(secret, headers, body, timestamp)).toBe(true);
    expect(verify(secret, headers, body)).toBe(false);
  });

  it('is that of the OpenAPI document, which has it as its examples, too', () => {
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
    // @ts-expect-error: what a parser has made of the body
    verify('whsec_', given, { id: 'evt_1' });`;

  it.each([
    ['Node.js', 'es2022'],
    ['a browser, as Next.js has them', 'es2022,dom,dom.iterable'],
  ])('are strict, and take what frameworks give, beside the types of %s', (_, lib) => {
    const modules = {
      verify: receiverSnippet('TypeScript (Node.js)'),
      express: receiverSnippet('Express'),
      route: receiverSnippet('Next.js'),
      callers,
    };
    symlinkSync(join(projectRoot, 'node_modules'), join(folder(), 'node_modules'));
    const files = Object.entries(modules).map(([name, text]) => {
      writeFileSync(join(folder(), `${name}.ts`), text);
      return `${name}.ts`;
    });
    const strict = '--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --noUnusedLocals';
    const rest = `--noEmit --esModuleInterop --skipLibCheck --module preserve --types node --target es2022 --lib ${lib}`;
    const args = [...files, ...strict.split(' '), ...rest.split(' ')];
    const tsc = join(projectRoot, 'node_modules/.bin/tsc');
    const { stdout, status } = spawnSync(tsc, args, { cwd: folder(), encoding: 'utf8' });
    expect([stdout, status]).toEqual(['', 0]);
  });
});
