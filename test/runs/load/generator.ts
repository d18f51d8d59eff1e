import autocannon from 'autocannon';
import type { PreparedRequest } from './requests';

/** A request and its answer. */
export interface Answered {
  readonly request: PreparedRequest;
  /** Undefined when none came. */
  readonly answer?: {
    readonly status: number;
    readonly contentType: string | undefined;
    readonly text: string;
    /** From the request's last byte written to the answer's last byte read. */
    readonly milliseconds: number;
    /** When it had come: milliseconds since 1970. */
    readonly at: number;
  };
}

export interface FireOptions {
  readonly connections: number;
  /** Requests a second over all connections. @default - as fast as they are answered */
  readonly rate?: number;
  readonly signal: AbortSignal;
}

/** Sends every request once by autocannon. Each connection takes its share of them, one after the other. */
export async function fire(
  baseUrl: string,
  requests: readonly PreparedRequest[],
  { connections, rate, signal }: FireOptions,
): Promise<readonly Answered[]> {
  const share = Math.ceil(requests.length / connections);
  const answers = new Map<PreparedRequest, Answered>();
  let next = 0;
  const options: autocannon.Options = {
    url: baseUrl,
    connections: Math.ceil(requests.length / share),
    amount: requests.length,
    // Seconds until a request is given up.
    timeout: 30,
    ...(rate === undefined ? {} : { overallRate: rate }),
    setupClient(client) {
      const own = requests.slice(next, next + share);
      next += share;
      let latest: ((milliseconds: number) => void) | undefined;
      client.setRequests(
        own.map((request) => ({
          ...toAutocannon(request),
          onResponse(status, text, _context, headers) {
            latest = (milliseconds) => {
              const contentType = contentTypeOf(headers);
              answers.set(request, {
                request,
                answer: { status, text, contentType, milliseconds, at: Date.now() },
              });
            };
          },
        })),
      );
      // It says how long a request took right after it has given its answer.
      client.on('response', (_status: number, _bytes: number, milliseconds: number) =>
        latest?.(milliseconds),
      );
    },
  };
  let stop = () => {};
  await new Promise<void>((resolve, reject) => {
    const instance = autocannon(options, (error) => (error ? reject(error) : resolve()));
    stop = () => instance.stop?.();
    signal.addEventListener('abort', stop);
  }).finally(() => signal.removeEventListener('abort', stop));
  return requests.map((request) => answers.get(request) ?? { request });
}

function toAutocannon({
  wire: { method = 'DELETE', path, headers = [], body },
}: PreparedRequest): autocannon.Request {
  return {
    method: method as NonNullable<autocannon.Request['method']>,
    path,
    headers: Object.fromEntries(headers),
    ...(body === undefined ? {} : { body }),
  };
}

const contentTypeOf = (headers: object | undefined): string | undefined =>
  Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === 'content-type')?.[1];
