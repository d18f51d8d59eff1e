import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type LoopbackServer, listen } from '../network/loopback-server';
import type { Api, FindFunction } from './api';
import { Fault, newContext, readRequest } from './request';
import { createRespond, renderFault } from './respond';

/** A REST API and its dependencies. */
export interface ServedApi {
  readonly api: Api;
  readonly findFunction: FindFunction;
  readonly region: string;
  /** Milliseconds since 1970. @default Date.now */
  readonly clock?: () => number;
}

/** A gateway on 127.0.0.1 that emulates API Gateway for a regional REST API; differences: docs/operating.md. */
export interface Gateway extends LoopbackServer {
  /** Serves the API; earlier requests wait for this call. Call once. */
  serve(served: ServedApi): void;
}

type Handle = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/**
 * Opens the port of an API before its resources are created: they may contain its address.
 *
 * @param port 0: any free one
 * @throws (rejects) with the code EADDRINUSE if the port is in use
 */
export async function openGateway(port: number): Promise<Gateway> {
  let serve: (handle: Handle) => void = () => undefined;
  const served = new Promise<Handle>((resolve) => (serve = resolve));
  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
    // A client that disconnected, or a bug.
    served.then((handle) => handle(incoming, outgoing)).catch(() => outgoing.destroy());
  });
  const { url, close } = await listen(server, port);
  return { url, close, serve: (api) => serve(createHandle(api, new URL(url).host)) };
}

function createHandle({ api, findFunction, region, clock = Date.now }: ServedApi, host: string): Handle {
  const respond = createRespond(api, findFunction, clock);
  return async (incoming, outgoing) => {
    const context = newContext(api, incoming, clock());
    const reply = await requireOwnHost(incoming, host)
      .then(() => readRequest(incoming, api, context, region))
      .then(respond)
      .catch((error: Error) => {
        // The client disconnected while sending.
        if (incoming.errored) throw error;
        const fault = error instanceof Fault ? error : new Fault('DEFAULT_5XX', 500, 'Internal server error');
        return renderFault(fault, api, context);
      });
    outgoing.statusCode = reply.status;
    for (const [name, value] of reply.headers) outgoing.appendHeader(name, value);
    outgoing.setHeader('x-amzn-RequestId', context.requestId);
    outgoing.setHeader('x-amz-apigw-id', context.extendedRequestId);
    outgoing.end(reply.body);
  };
}

/** Rejects DNS rebinding: a web page whose domain resolves to 127.0.0.1 sends another host. @throws Fault */
async function requireOwnHost(incoming: IncomingMessage, host: string): Promise<void> {
  const hosts = incoming.headersDistinct.host ?? [];
  const own = [host, host.replace('127.0.0.1', 'localhost')];
  if (hosts.length === 1 && own.includes(String(hosts[0]).toLowerCase())) return;
  incoming.resume();
  throw new Fault('DEFAULT_4XX', 403, 'Forbidden');
}
