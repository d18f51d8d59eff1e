import {
  type LoopbackRequest,
  type LoopbackResponse,
  startLoopbackServer,
} from '../../local/network/loopback-server';
import { readQuery, writeRefusal, writeResult } from '../support/query-protocol';

/** One call of an SDK, recognized by its signature. */
export interface Call {
  /** The service's name in the signature, such as `servicequotas`. */
  readonly service: string;
  readonly region: string;
  readonly action: string;
  // biome-ignore lint/suspicious/noExplicitAny: inputs of all services
  readonly input: any;
}

/** A service's response: a result, a refusal, a page of another server, or none. */
export type Reply =
  | { readonly result: unknown }
  | { readonly refusal: string; readonly message?: string }
  | { readonly page: string }
  | 'silence';
export type Replies = Readonly<Record<string, (call: Call) => Reply>>;

export const result = (value: unknown): Reply => ({ result: value });
export const refusal = (code: string, message = 'No.'): Reply => ({ refusal: code, message });

/** AWS on a free port of 127.0.0.1, in the protocol of each service. */
export interface LocalAccount {
  readonly url: string;
  /** Since the last `answer`. */
  readonly calls: Call[];
  /** Sets the responses: by `service:Action` or `service:*`, first match. */
  answer(...replies: readonly Replies[]): void;
  close(): Promise<void>;
}

export async function startAccount(): Promise<LocalAccount> {
  const calls: Call[] = [];
  let current: readonly Replies[] = [];
  const server = await startLoopbackServer(async (request) => {
    const call = readCall(request);
    calls.push(call);
    for (const replies of current) {
      const respond = replies[`${call.service}:${call.action}`] ?? replies[`${call.service}:*`];
      if (respond) return write(call, respond(call));
    }
    return write(call, refusal('InvalidAction', `${call.service}:${call.action} is not served here.`));
  }, 100_000);
  return {
    url: server.url,
    calls,
    answer: (...replies) => {
      calls.length = 0;
      current = replies;
    },
    close: server.close,
  };
}

/** The AWS endpoint of a test file, set through the SDK's variables. @returns the account, within a test */
export function localAccount(): () => LocalAccount {
  let account: LocalAccount;
  let restore: () => void;
  beforeAll(async () => {
    account = await startAccount();
    restore = setVariables(accountVariables(account.url));
  });
  afterAll(async () => {
    restore();
    await account.close();
  });
  return () => account;
}

/** Sets the SDK's variables for the rest of a test file. @returns a function that restores them */
export function setVariables(values: Readonly<Record<string, string | undefined>>): () => void {
  const before = Object.fromEntries(Object.keys(values).map((name) => [name, process.env[name]]));
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  return () => void setVariables(before);
}

/** The variables that direct the SDK to an account, in any process. */
export const accountVariables = (url: string): Readonly<Record<string, string | undefined>> => ({
  AWS_ENDPOINT_URL: url,
  AWS_ENDPOINT_URL_SQS: undefined,
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_SESSION_TOKEN: undefined,
  AWS_PROFILE: undefined,
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_MAX_ATTEMPTS: '1',
});

function readCall({ method, url, headers, body }: LoopbackRequest): Call {
  const [, , region = '', service = ''] =
    /Credential=([^,]+)/.exec(headers.authorization ?? '')?.[1]?.split('/') ?? [];
  const target = headers['x-amz-target'];
  if (typeof target === 'string')
    return { service, region, action: target.split('.').at(-1) ?? '', input: JSON.parse(String(body)) };
  if (service === 'lambda' && method === 'GET' && url === '/2016-08-19/account-settings')
    return { service, region, action: 'GetAccountSettings', input: {} };
  if (service === 'account' && url === '/getRegionOptStatus')
    return { service, region, action: 'GetRegionOptStatus', input: JSON.parse(String(body)) };
  const { Action = `${method} ${url}`, ...input } = readQuery(String(body));
  return { service, region, action: Action, input };
}

const queryServices = ['sts', 'iam', 'rds', 'cloudformation'];

async function write({ service, action }: Call, reply: Reply): Promise<LoopbackResponse> {
  if (reply === 'silence') return new Promise(() => undefined);
  if ('page' in reply) return { status: 200, headers: { 'content-type': 'text/html' }, body: reply.page };
  // S3 responds to writes with headers only.
  if (service === 's3' && 'result' in reply) return { status: 200, headers: {}, body: '' };
  const protocol = service === 'ec2' ? service : queryServices.includes(service) ? 'query' : 'json';
  return 'refusal' in reply
    ? writeRefusal(protocol, reply.refusal, reply.message)
    : writeResult(protocol, action, reply.result);
}
