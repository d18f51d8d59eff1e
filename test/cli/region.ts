import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type LoopbackRequest,
  type LoopbackResponse,
  startLoopbackServer,
} from '../../local/network/loopback-server';
import { startKms } from '../support/local-services';
import { writeOutputs } from '../support/outputs-file';
import { first } from '../support/rows';
import { runWallet } from '../support/wallet-command';

/** What an endpoint answers to a call: `status` 200 and the body, unless it says otherwise. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

type Input = Readonly<Record<string, string>>;
type Replies = Readonly<Record<string, (input: Input) => Reply>>;

export interface Region {
  readonly outputs: string;
  /** Of KMS and Lambda. */
  readonly endpoint: string;
  /** What was called since the last `recover`: `kms.Sign`, `kms.GetPublicKey` or `lambda`. */
  readonly calls: { readonly action: string; readonly input: Input }[];
  /** Has calls answered otherwise, until the next `recover`. */
  answer(replies: Replies): void;
  recover(): void;
  /** Stops listening, as a local environment that was stopped. */
  close(): Promise<void>;
  remove(): Promise<void>;
}

const keyPrefix = 'arn:aws:kms:eu-central-1:000000000000:key/';
export const keyArns = { accessToken: `${keyPrefix}access-token`, userAction: `${keyPrefix}user-action` };
/** Of the API; nothing listens there. */
export const baseUrl = 'http://127.0.0.1:1';
export const identityId = 'us-aaaaa-bbbbb-cccccccccccccccc';
export const organizationId = 'or-aaaaa-bbbbb-cccccccccccccccc';

export const answerOk = (result: unknown): Reply => ({ body: { ok: true, result } });

/** An outputs file and the endpoints of its region: the local KMS, and operations that know one identity. */
export async function startRegion(): Promise<Region> {
  const directory = mkdtempSync(join(tmpdir(), 'wallet-region-'));
  const kms = await startKms();
  for (const [name, arn] of Object.entries(keyArns)) {
    kms.create({ arn, directory, name, keySpec: 'ECC_NIST_P256', keyUsage: 'SIGN_VERIFY' });
  }
  const usual: Replies = {
    lambda: () => answerOk({ identityId, organizationId, kind: 'CustomerEmployee', active: true }),
  };
  const calls: Region['calls'] = [];
  let replies = usual;
  const server = await startLoopbackServer(async (request) => {
    const target = String(request.headers['x-amz-target'] ?? '').split('.')[1];
    const call = {
      action: target ? `kms.${target}` : 'lambda',
      input: JSON.parse(String(request.body)) as Input,
    };
    calls.push(call);
    const reply = replies[call.action]?.(call.input);
    return reply ? asResponse(reply) : forward(request, kms.url);
  }, 100_000);

  const outputs = writeOutputs(directory, stackOutputs, { kms: server.url, lambda: server.url });
  let listening = true;
  const close = async () => {
    if (!listening) return;
    listening = false;
    await server.close();
    await kms.close();
  };
  return {
    outputs,
    endpoint: server.url,
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
      await close();
      rmSync(directory, { recursive: true });
    },
  };
}

const stackOutputs = {
  [first.stackId]: {
    ApiBaseUrl: baseUrl,
    WebhookOriginAddress: '127.0.0.1',
    OperationsFunctionName: 'operations',
    TokenSigningKeyArn: keyArns.accessToken,
    UserActionSigningKeyArn: keyArns.userAction,
  },
};

const asResponse = ({ status = 200, headers = {}, body }: Reply): LoopbackResponse => ({
  status,
  headers: { 'content-type': 'application/x-amz-json-1.1', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

async function forward({ headers, body }: LoopbackRequest, url: string): Promise<LoopbackResponse> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.1',
      authorization: String(headers.authorization),
      'x-amz-target': String(headers['x-amz-target']),
    },
    body: new Uint8Array(body),
  });
  return asResponse({ status: response.status, body: await response.text() });
}

/** Runs a command in this process: its exit code and what it wrote. */
export const wallet = (...args: string[]) => runWallet(args);
