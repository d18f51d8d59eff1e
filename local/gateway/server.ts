import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type LoopbackServer, listen } from '../network/loopback-server';
import { createAnswer, renderFault } from './answer';
import type { Api, FindFunction } from './model';
import { Fault, newContext, readRequest } from './request';

/** A REST API and what it runs on. */
export interface ServedApi {
  readonly api: Api;
  readonly findFunction: FindFunction;
  readonly region: string;
  /** Milliseconds since 1970. @default Date.now */
  readonly clock?: () => number;
}

/** A gateway on 127.0.0.1 that answers as API Gateway does for a regional REST API; differences: docs/operating.md. */
export interface Gateway extends LoopbackServer {
  /** Begins to answer; requests that came before wait for it. Once only. */
  serve(served: ServedApi): void;
}

type Handle = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/**
 * Opens the port of an API before its resources are known: they may contain its address.
 *
 * @param wanted 0 takes any free port
 * @throws (rejects) with the code EADDRINUSE when the port is taken
 */
export async function openGateway(wanted: number): Promise<Gateway> {
  let begin: (handle: Handle) => void;
  const begun = new Promise<Handle>((resolve) => {
    begin = resolve;
  });
  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
    // A client that disconnected, or a bug.
    begun.then((handle) => handle(incoming, outgoing)).catch(() => outgoing.destroy());
  });
  const { url, close } = await listen(server, wanted);
  return { url, close, serve: (served) => begin(createHandle(served, new URL(url).host)) };
}

function createHandle({ api, findFunction, region, clock = Date.now }: ServedApi, host: string): Handle {
  const answer = createAnswer(findFunction, clock);
  return async (incoming, outgoing) => {
    const context = newContext(api, incoming, clock());
    const reply = await requireOwnHost(incoming, host)
      .then(() => readRequest(incoming, api, context, region))
      .then(answer)
      .catch((error: Error) => {
        // A client that disconnected while it was sending.
        if (incoming.errored) throw error;
        const fault = error instanceof Fault ? error : new Fault('DEFAULT_5XX', 'Internal server error');
        return renderFault(fault, api, context);
      });
    outgoing.statusCode = reply.status;
    for (const [name, value] of reply.headers) outgoing.appendHeader(name, value);
    outgoing.setHeader('x-amzn-RequestId', context.requestId);
    outgoing.setHeader('x-amz-apigw-id', context.extendedRequestId);
    outgoing.end(reply.body);
  };
}

/** A web page whose own name resolves to 127.0.0.1 (DNS rebinding) has another host. @throws Fault */
async function requireOwnHost(incoming: IncomingMessage, host: string): Promise<void> {
  const hosts = incoming.headersDistinct.host ?? [];
  const own = [host, host.replace('127.0.0.1', 'localhost')];
  if (hosts.length === 1 && own.includes(String(hosts[0]).toLowerCase())) return;
  incoming.resume();
  throw new Fault('DEFAULT_4XX', 'Forbidden', 403);
}
