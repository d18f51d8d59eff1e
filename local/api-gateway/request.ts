import type { IncomingMessage } from 'node:http';
import type { Target } from './target';

/** A request as the steps of the gateway get it. */
export interface GatewayRequest {
  readonly httpMethod: string;
  readonly target: Target;
  /** Names as the client wrote them, in order; hop-by-hop headers are gone. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  readonly sourceIp: string;
  /** `HTTP/1.1` */
  readonly protocol: string;
}

/**
 * Headers that are dropped before anything sees the request.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html
 */
const DROPPED = new Set([
  'connection',
  'content-length',
  'content-md5',
  'expect',
  'max-forwards',
  'proxy-authenticate',
  'server',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'www-authenticate',
]);

/** Header values and request line together, in bytes: https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html */
export const HEADER_LIMIT = 10_240;
/** Bytes: https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html */
export const PAYLOAD_LIMIT = 10 * 1_024 * 1_024;

export function headerBytes(incoming: IncomingMessage): number {
  const { method = '', url = '', httpVersion, rawHeaders } = incoming;
  const values = rawHeaders.filter((_, index) => index % 2 === 1);
  const line = `${method} ${url} HTTP/${httpVersion}`;
  return [line, ...values].reduce((sum, text) => sum + Buffer.byteLength(text, 'latin1'), 0);
}

export function toGatewayRequest(incoming: IncomingMessage, target: Target, body: Buffer): GatewayRequest {
  const { rawHeaders, socket } = incoming;
  const sourceIp = socket.remoteAddress ?? '127.0.0.1';
  const headers: [string, string][] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (!DROPPED.has(name.toLowerCase())) headers.push([name, rawHeaders[i + 1] as string]);
  }
  const forwarded = headers.filter(([name]) => name.toLowerCase() === 'x-forwarded-for');
  return {
    httpMethod: incoming.method ?? '',
    target,
    headers: [
      ...headers.filter((header) => !forwarded.includes(header)),
      ['X-Forwarded-For', [...forwarded.map(([, value]) => value), sourceIp].join(', ')],
      ['X-Forwarded-Port', String(socket.localPort)],
      ['X-Forwarded-Proto', 'http'],
    ],
    body,
    sourceIp,
    protocol: `HTTP/${incoming.httpVersion}`,
  };
}

/** The last value of a header. Names are compared without regard to case. */
export function headerOf(request: Pick<GatewayRequest, 'headers'>, name: string): string | undefined {
  return request.headers.findLast(([each]) => each.toLowerCase() === name.toLowerCase())?.[1];
}

/** Single and repeated values, in the shape of the Lambda event: the single one is the last. */
export function valuesOf(pairs: readonly (readonly [string, string])[]) {
  if (pairs.length === 0) return { single: null, multi: null };
  const multi = new Map<string, string[]>();
  for (const [name, value] of pairs) {
    const values = multi.get(name);
    if (values) values.push(value);
    else multi.set(name, [value]);
  }
  return { single: Object.fromEntries(pairs), multi: Object.fromEntries(multi) };
}
