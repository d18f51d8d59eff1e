import type { IncomingMessage, ServerResponse } from 'node:http';

/** Sent by browsers alone: https://www.w3.org/TR/fetch-metadata/, https://fetch.spec.whatwg.org/#origin-header */
const OF_BROWSERS = ['origin', 'sec-fetch-site'] as const;

/**
 * Refuses a request that a web page may have sent, for a service whose callers are AWS SDKs on this machine. A page has an
 * `Origin`, or names its own host when that resolves to 127.0.0.1 (DNS rebinding).
 *
 * @returns whether it has answered: 403, in a form that the SDKs of every JSON protocol read
 */
export function refuseForeign(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
  const message = foreignPart(incoming);
  if (message === undefined) return false;
  const __type = 'AccessDeniedException';
  outgoing
    .writeHead(403, { 'Content-Type': 'application/json', 'x-amzn-ErrorType': __type })
    .end(JSON.stringify({ __type, message }));
  return true;
}

function foreignPart({ headers, headersDistinct, socket }: IncomingMessage): string | undefined {
  const sent = OF_BROWSERS.find((name) => headers[name] !== undefined);
  if (sent) return `Web pages may not call this service: the request has the header ${sent}.`;
  const own = ['127.0.0.1', 'localhost'].map((name) => `${name}:${socket.localPort}`);
  const hosts = headersDistinct.host ?? [];
  if (hosts.length === 1 && own.includes(String(hosts[0]).toLowerCase())) return undefined;
  return `Host must be ${own.join(' or ')}, and is ${JSON.stringify(hosts.join(', '))}.`;
}
