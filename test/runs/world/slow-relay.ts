import { createServer as createHttpServer, request as sendRequest } from 'node:http';
import { type AddressInfo, connect, createServer, type ListenOptions, type NetConnectOpts } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Cleanup } from '../../../local/cleanup';

export interface SlowRelayOptions {
  /** @default - a free port of this machine */
  readonly listen?: ListenOptions;
  readonly server: NetConnectOpts;
  /** Milliseconds that it adds to a request and its answer: half of it each way. */
  readonly roundTripMs: number;
}

/** A network between clients and a server on this machine: what either sends arrives later. @returns its port, if it has one */
export async function startSlowRelay(cleanup: Cleanup, options: SlowRelayOptions): Promise<number> {
  const { listen = { host: '127.0.0.1', port: 0 }, server, roundTripMs } = options;
  const later = delayBy(roundTripMs / 2);
  const relay = createServer({ noDelay: true }, (client) => {
    const upstream = connect(server);
    if ('port' in server) upstream.setNoDelay();
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', (bytes) => later(() => to.write(bytes)));
      from.on('error', () => undefined);
      from.on('close', () => later(() => to.destroySoon()));
    }
    cleanup.add(() => client.destroy());
  });
  await new Promise<void>((resolve, reject) => relay.once('error', reject).listen(listen, resolve));
  cleanup.add(() => relay.close());
  return (relay.address() as AddressInfo).port;
}

/**
 * The same before an HTTP server that refuses a foreign `Host`, as the local services do: requests leave here with theirs.
 *
 * @returns its URL
 */
export async function startSlowProxy(cleanup: Cleanup, url: string, roundTripMs: number): Promise<string> {
  const { host, hostname, port } = new URL(url);
  const later = delayBy(roundTripMs / 2);
  const proxy = createHttpServer(async (request, response) => {
    const body = await buffer(request);
    later(() => {
      const { method, url: path, headers } = request;
      const forwarded = sendRequest({ hostname, port, method, path, headers: { ...headers, host } });
      forwarded.on('error', () => response.destroy());
      forwarded.on('response', async (answer) => {
        const answered = await buffer(answer);
        later(() => response.writeHead(answer.statusCode ?? 502, answer.headers).end(answered));
      });
      forwarded.end(body);
    });
  });
  await new Promise<void>((resolve, reject) =>
    proxy.once('error', reject).listen({ host: '127.0.0.1', port: 0 }, resolve),
  );
  cleanup.add(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

/** Does things in their order, each so many milliseconds later: exactly, where a timer would count whole milliseconds. */
function delayBy(ms: number): (action: () => void) => void {
  const waiting: { readonly at: number; readonly action: () => void }[] = [];
  const pass = () => {
    const now = performance.now();
    for (let [first] = waiting; first && first.at <= now; [first] = waiting) {
      waiting.shift();
      first.action();
    }
    if (waiting.length > 0) setImmediate(pass);
  };
  return (action) => {
    if (waiting.push({ at: performance.now() + ms, action }) === 1) setImmediate(pass);
  };
}
