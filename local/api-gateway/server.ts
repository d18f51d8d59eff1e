import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answer, type GatewayDependencies } from './answer';
import { createAuthorize } from './authorizer';
import { readBody } from './body';
import { answerClientErrors } from './client-errors';
import { type MappingSources, newContext } from './context';
import { gatewayResponse } from './gateway-response';
import type { FindFunction } from './lambda-proxy';
import type { RestApiModel } from './model';
import { fault, type Outcome, type Reply } from './outcome';
import { type GatewayRequest, HEADER_LIMIT, headerBytes, PAYLOAD_LIMIT, toGatewayRequest } from './request';
import { namesHost, parseTarget } from './target';
import { createThrottles } from './throttle';

/** A REST API and what it runs on. */
export interface ServedApi {
  readonly restApi: RestApiModel;
  readonly findFunction: FindFunction;
  readonly region: string;
  /** Milliseconds since 1970; for throttles and the authorizers' cache. @default Date.now */
  readonly clock?: () => number;
}

export interface GatewayAddress {
  /** 0 takes any free port. */
  readonly port: number;
  /** Milliseconds in which a client must have sent its whole request. @default 30000 */
  readonly requestTimeoutMs?: number;
}

/** A gateway on 127.0.0.1 that answers as API Gateway does for a regional REST API. */
export interface OpenApiGateway {
  /** Base address, without a slash at its end: there is no stage in the path. */
  readonly url: string;
  readonly port: number;
  /** Begins to answer; requests that came before wait for it. Once only. */
  serve(api: ServedApi): void;
  /** Takes no more requests, gives running ones a second, then ends all connections. A second call waits for the first. */
  close(): Promise<void>;
}

/** Milliseconds that running requests have when the gateway closes. */
const CLOSING_GRACE = 1_000;

type Serve = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/**
 * Opens the port of an API before its resources are known: they may contain its address.
 *
 * @throws (rejects) with the code EADDRINUSE when the port is taken
 */
export function openApiGateway({
  port: wanted,
  requestTimeoutMs = 30_000,
}: GatewayAddress): Promise<OpenApiGateway> {
  let begin: (serve: Serve) => void;
  const begun = new Promise<Serve>((resolve) => {
    begin = resolve;
  });
  let closing: Promise<void> | undefined;
  const server = createServer(
    {
      maxHeaderSize: 4 * HEADER_LIMIT,
      // Node.js would refuse it without a problem document: `receive` does it with a problem.
      requireHostHeader: false,
      headersTimeout: requestTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, requestTimeoutMs),
      keepAliveTimeout: 60_000,
    },
    (incoming, outgoing) => {
      // Only a header value that HTTP does not allow, from a context or a request, comes this far.
      begun.then((serve) => serve(incoming, outgoing)).catch(() => outgoing.destroy());
    },
  );
  server.maxHeadersCount = 0;
  // The gateway drops `Expect`; without a listener, Node.js answers 417 to whatever it does not know.
  server.on('checkExpectation', (incoming, outgoing) => server.emit('request', incoming, outgoing));

  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(wanted, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      resolve({
        url: `http://127.0.0.1:${port}`,
        port,
        serve: (api) => begin(serveApi(server, api, () => closing !== undefined)),
        close: () => {
          closing ??= new Promise((closed) => {
            const timer = setTimeout(() => server.closeAllConnections(), CLOSING_GRACE);
            server.close(() => {
              clearTimeout(timer);
              closed();
            });
            server.closeIdleConnections();
          });
          return closing;
        },
      });
    });
  });
}

function serveApi(server: Server, api: ServedApi, isClosing: () => boolean): Serve {
  const { restApi: model, findFunction, region, clock = Date.now } = api;
  const dependencies: GatewayDependencies = {
    model,
    authorize: createAuthorize({ ...api, clock }),
    admit: createThrottles(clock),
    findFunction,
    region,
  };
  const begin = () => newContext(model, new Date(clock()));
  answerClientErrors(server, (problem) => toReply(problem, { model, context: begin(), request: undefined }));

  return async (incoming, outgoing) => {
    const context = begin();
    const received = await receive(incoming);
    if (received === 'aborted') return;
    const request = 'kind' in received ? undefined : received;
    const outcome =
      'kind' in received
        ? received
        : await answer(dependencies, context, received).catch(() =>
            fault('DEFAULT_5XX', 'Internal server error'),
          );
    if (isClosing()) outgoing.shouldKeepAlive = false;
    send(outgoing, toReply(outcome, { model, context, request }));
  };
}

/** Reads a request to its end; limits are checked first. */
async function receive(incoming: IncomingMessage): Promise<GatewayRequest | Outcome | 'aborted'> {
  if (headerBytes(incoming) > HEADER_LIMIT) {
    incoming.resume();
    return fault('REQUEST_TOO_LARGE', `HTTP header is larger than ${HEADER_LIMIT} bytes.`);
  }
  const { headersDistinct, httpVersion, url = '/' } = incoming;
  const hosts = headersDistinct.host ?? [];
  const target = namesHost(hosts, httpVersion) && parseTarget(url, hosts[0]);
  if (!target) {
    incoming.resume();
    return fault('BAD_REQUEST_PARAMETERS', 'Bad Request');
  }
  const body = await readBody(incoming, PAYLOAD_LIMIT);
  if (body === 'aborted') return body;
  if (body === 'too-large') {
    return fault('REQUEST_TOO_LARGE', `HTTP content length exceeded ${PAYLOAD_LIMIT} bytes.`);
  }
  return toGatewayRequest(incoming, target, body);
}

function toReply(outcome: Outcome, sources: MappingSources): Reply {
  const reply = outcome.kind === 'reply' ? outcome : gatewayResponse(outcome, sources);
  const { requestId, extendedRequestId } = sources.context;
  const ids = [
    ['x-amzn-RequestId', requestId],
    ['x-amz-apigw-id', extendedRequestId],
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
