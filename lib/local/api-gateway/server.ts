import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LocalFunction } from '../function-runtime';
import { type AccessEntry, accessEntry } from './access';
import { answer, type GatewayParts } from './answer';
import { createAuthorize } from './authorizer';
import { readBody } from './body';
import { answerClientErrors } from './client-errors';
import { type GatewayContext, newContext } from './context';
import { gatewayResponse } from './gateway-response';
import type { RestApiModel } from './model';
import { fault, type Outcome, type Reply } from './outcome';
import { type GatewayRequest, HEADER_LIMIT, headerBytes, PAYLOAD_LIMIT, toGatewayRequest } from './request';
import { parseTarget } from './target';
import { createThrottles } from './throttle';

export interface ApiGatewayOptions {
  /** 0 takes any free port. */
  readonly port: number;
  readonly restApi: RestApiModel;
  readonly functions: (functionArn: string) => LocalFunction;
  readonly region: string;
  readonly accountId: string;
  /** Told of every answered request. */
  readonly onAccess?: (entry: AccessEntry) => void;
  /** Milliseconds since 1970; for throttles and the authorizers' cache. @default Date.now */
  readonly clock?: () => number;
  /** Milliseconds in which a client must have sent its whole request. @default 30000 */
  readonly requestTimeoutMs?: number;
}

export interface ApiGateway {
  /** Base address, without a slash at its end: there is no stage in the path. */
  readonly url: string;
  readonly port: number;
  /** Takes no more requests, gives running ones a second, then ends all connections. */
  close(): Promise<void>;
}

/** Milliseconds that running requests have when the front closes. */
const CLOSING_GRACE = 1_000;

/**
 * Serves a REST API (regional) on 127.0.0.1 as API Gateway does.
 *
 * @throws (rejects) with the code EADDRINUSE when the port is taken
 */
export function startApiGateway(options: ApiGatewayOptions): Promise<ApiGateway> {
  const { restApi: model, accountId, onAccess, clock = Date.now, requestTimeoutMs = 30_000 } = options;
  const parts: GatewayParts = {
    model,
    authorize: createAuthorize({ ...options, clock }),
    admit: createThrottles(clock),
    functions: options.functions,
  };
  const begin = () => newContext({ model, accountId, now: new Date(clock()) });
  let closing = false;

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const started = performance.now();
    const context = begin();
    const received = await receive(incoming);
    if (received === 'aborted') return;
    const request = 'kind' in received ? undefined : received;
    let error: unknown;
    const outcome =
      'kind' in received
        ? received
        : await answer(parts, context, received).catch((thrown: unknown) => {
            error = thrown;
            return fault('DEFAULT_5XX', 'Internal server error');
          });
    const reply = toReply(model, outcome, context, request);
    if (closing) outgoing.shouldKeepAlive = false;
    send(outgoing, reply);
    onAccess?.(accessEntry(model, context, reply, Math.round(performance.now() - started), error));
  }

  const server = createServer(
    {
      maxHeaderSize: 4 * HEADER_LIMIT,
      headersTimeout: requestTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, requestTimeoutMs),
      keepAliveTimeout: 60_000,
    },
    (incoming, outgoing) => {
      // Only a header value that HTTP does not allow, from a context or a request, comes this far.
      serve(incoming, outgoing).catch(() => outgoing.destroy());
    },
  );
  server.maxHeadersCount = 0;
  answerClientErrors(server, (problem) => toReply(model, problem, begin(), undefined));

  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      resolve({
        url: `http://127.0.0.1:${port}`,
        port,
        close: () => {
          closing = true;
          return new Promise((closed) => {
            const timer = setTimeout(() => server.closeAllConnections(), CLOSING_GRACE);
            server.close(() => {
              clearTimeout(timer);
              closed();
            });
            server.closeIdleConnections();
          });
        },
      });
    });
  });
}

/** Reads a request to its end; limits are checked first. */
async function receive(incoming: IncomingMessage): Promise<GatewayRequest | Outcome | 'aborted'> {
  if (headerBytes(incoming) > HEADER_LIMIT) {
    incoming.resume();
    return fault('REQUEST_TOO_LARGE', `HTTP header is larger than ${HEADER_LIMIT} bytes.`);
  }
  const body = await readBody(incoming, PAYLOAD_LIMIT);
  if (body === 'aborted') return body;
  if (body === 'too-large') {
    return fault('REQUEST_TOO_LARGE', `HTTP content length exceeded ${PAYLOAD_LIMIT} bytes.`);
  }
  const target = parseTarget(incoming.url ?? '/');
  return target ? toGatewayRequest(incoming, target, body) : fault('BAD_REQUEST_PARAMETERS', 'Bad Request');
}

function toReply(
  model: RestApiModel,
  outcome: Outcome,
  context: GatewayContext,
  request: GatewayRequest | undefined,
): Reply {
  const reply = outcome.kind === 'reply' ? outcome : gatewayResponse(model, outcome, context, request);
  const ids = [
    ['x-amzn-RequestId', context.requestId],
    ['x-amz-apigw-id', context.extendedRequestId],
  ] as const;
  const names = ids.map(([name]) => name.toLowerCase());
  return {
    ...reply,
    headers: [...reply.headers.filter(([name]) => !names.includes(name.toLowerCase())), ...ids],
  };
}

function send(outgoing: ServerResponse, { status, headers, body }: Reply): void {
  if (outgoing.destroyed) return;
  outgoing.statusCode = status;
  for (const [name, value] of headers) outgoing.appendHeader(name, value);
  outgoing.end(body);
}
