import {
  type LoopbackRequest,
  type LoopbackResponse,
  startLoopbackServer,
} from '../../../lib/local/network/loopback-server';
import { readQuery, writeXml } from '../../support/local-cloudformation/query-protocol';

/** One call of an SDK, told apart by its signature. */
export interface Call {
  /** The service's name in the signature, such as `servicequotas`. */
  readonly service: string;
  readonly region: string;
  readonly action: string;
  // biome-ignore lint/suspicious/noExplicitAny: inputs of all services
  readonly input: any;
}

/** What a service answers: a result, a refusal, a page that is none of its, or nothing. */
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
  /** Has calls answered so: by `service:Action` or `service:*`, the first that fits. */
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

/** https://smithy.io/2.0/aws/protocols/index.html */
async function write({ service, action }: Call, reply: Reply): Promise<LoopbackResponse> {
  if (reply === 'silence') return new Promise(() => undefined);
  if ('page' in reply) return { status: 200, headers: { 'content-type': 'text/html' }, body: reply.page };
  const status = 'refusal' in reply ? 400 : 200;
  if (!['sts', 'iam', 'rds', 'cloudformation', 'ec2'].includes(service)) {
    if (!('refusal' in reply)) return { status, headers: {}, body: JSON.stringify(reply.result) };
    const { refusal: __type, message } = reply;
    return { status, headers: { 'x-amzn-errortype': __type }, body: JSON.stringify({ __type, message }) };
  }
  const item = service === 'ec2' ? 'item' : 'member';
  const respond = (name: string, value: unknown) => ({
    status,
    headers: { 'content-type': 'text/xml' },
    body: writeXml(name, value, item),
  });
  if ('refusal' in reply) {
    const error = { Error: { Code: reply.refusal, Message: reply.message } };
    return item === 'item' ? respond('Response', { Errors: error }) : respond('ErrorResponse', error);
  }
  return respond(`${action}Response`, item === 'item' ? reply.result : { [`${action}Result`]: reply.result });
}
