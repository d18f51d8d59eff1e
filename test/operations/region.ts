import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommandLine } from '../../lib/operations/command-line';
import { createTerminal } from '../../lib/operations/terminal';

/** What the endpoint answers to one call: `status` 200 and the body, unless it says otherwise. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** `kms.Sign`, `kms.GetPublicKey` or `lambda`, to what answers it. */
export type Replies = Partial<Record<string, (input: Readonly<Record<string, string>>) => Reply>>;

export interface Region {
  readonly outputs: string;
  readonly calls: { readonly action: string; readonly input: Readonly<Record<string, unknown>> }[];
  /** Has calls answered otherwise, until the next `recover`. */
  answer(replies: Replies): void;
  recover(): void;
  /** Stops listening, as a local environment that was stopped. */
  close(): Promise<void>;
  remove(): Promise<void>;
}

export const keyArn = 'arn:aws:kms:eu-central-1:000000000000:key/one';
export const identityId = 'us-aaaaa-bbbbb-cccccccccccccccc';
export const organizationId = 'or-aaaaa-bbbbb-cccccccccccccccc';

/** The endpoints of KMS and Lambda with one key and one identity, whose answers a test can spoil, and an outputs file. */
export async function startRegion(): Promise<Region & { readonly publicKey: KeyObject }> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const usual: Replies = {
    'kms.GetPublicKey': () => ({ body: { PublicKey: spki(publicKey) } }),
    'kms.Sign': ({ Message }) => ({ body: { Signature: signMessage(privateKey, Message ?? '') } }),
    lambda: () => answerOk({ identityId, organizationId, kind: 'CustomerEmployee', active: true }),
  };
  let replies = usual;
  const calls: Region['calls'] = [];
  const server = createServer(async (request, response) => {
    const input = JSON.parse((await read(request)) || '{}');
    const target = String(request.headers['x-amz-target'] ?? '').split('.')[1];
    const action = target ? `kms.${target}` : 'lambda';
    calls.push({ action, input });
    const reply = replies[action]?.(input);
    if (!reply) return;
    response.writeHead(reply.status ?? 200, {
      'content-type': 'application/x-amz-json-1.1',
      ...reply.headers,
    });
    response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const directory = await mkdtemp(join(tmpdir(), 'wallet-region-'));
  const outputs = join(directory, 'outputs.json');
  await writeFile(join(directory, 'endpoints.json'), JSON.stringify({ kms: url, lambda: url }));
  const stack = {
    ApiBaseUrl: 'http://127.0.0.1:8001',
    WebhookOriginAddress: '127.0.0.1',
    OperationsFunctionName: 'operations',
    TokenSigningKeyArn: keyArn,
    UserActionSigningKeyArn: `${keyArn}-for-user-actions`,
  };
  await writeFile(outputs, JSON.stringify({ WalletEu: stack, WalletUae: { ApiBaseUrl: stack.ApiBaseUrl } }));

  const close = () =>
    new Promise<void>((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
  return {
    publicKey,
    outputs,
    calls,
    answer: (others) => {
      replies = { ...usual, ...others };
    },
    recover: () => {
      replies = usual;
      calls.length = 0;
    },
    close,
    remove: async () => {
      if (server.listening) await close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export const answerOk = (result: unknown): Reply => ({ body: { ok: true, result } });

/** Runs a command in this process: its exit code and what it wrote. */
export async function wallet(...args: string[]) {
  const written = { stdout: '', stderr: '' };
  const record = (name: keyof typeof written) => ({
    write: (text: string) => {
      written[name] += text;
    },
  });
  const exitCode = await runCommandLine(args, createTerminal(record('stdout'), record('stderr')));
  return { exitCode, ...written };
}

const spki = (key: KeyObject) => key.export({ format: 'der', type: 'spki' }).toString('base64');

const signMessage = (key: KeyObject, message: string) =>
  sign('sha256', Buffer.from(message, 'base64'), { key, dsaEncoding: 'der' }).toString('base64');

async function read(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}
