import { setTimeout as sleep } from 'node:timers/promises';
import { CommandFailed } from './failure';
import { parseJson } from './json';
import { startCommand } from './pasted-command';
import type { Target } from './target';

/** An answer of the environment's API. */
export interface ApiResponse {
  readonly status: number;
  readonly contentType: string | null;
  /** Parsed when it is JSON; its text otherwise. */
  readonly body: unknown;
}

interface ApiRequest {
  readonly method: 'DELETE' | 'GET';
  /** As it follows the base address. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Milliseconds for an answer: the gateway gives a function 29 s. */
const deadline = 35_000;

/** How often a throttled request is sent again, a second later. The gateway throttles before anything is done. */
const maxThrottled = 20;

/** Sends a request to the API. @throws CommandFailed when there is no answer */
export async function callApi(
  target: Target,
  request: ApiRequest,
  signal: AbortSignal,
): Promise<ApiResponse> {
  for (let throttled = 0; ; throttled++) {
    const answer = await send(target, request, signal);
    if (answer.status !== 429 || throttled === maxThrottled) return answer;
    await sleep(1_000, undefined, { signal });
  }
}

/**
 * @param isOurs whether a 200 may be of the environment's API. @default - it is JSON
 * @throws CommandFailed that says how the API answered, and how it should have
 */
export function unexpectedResponse(
  target: Target,
  { method, path }: ApiRequest,
  answer: ApiResponse,
  expected: string,
  isOurs = /json/.test(answer.contentType ?? ''),
): never {
  const { status, contentType, body } = answer;
  const { code, detail } = Object(body) as { readonly code?: string; readonly detail?: string };
  const isPage = /html/.test(contentType ?? '');
  const text = isPage ? '' : `, ${typeof body === 'string' ? body : JSON.stringify(body)}`.slice(0, 500);
  // All that the gateway and its functions refuse is a problem with a code.
  if (!code && !(status === 200 && isOurs)) {
    throw new CommandFailed(
      `${method} ${path} was answered with ${status}, ${contentType ?? 'no content type'}${text}, not by the API of ${target.environment.name}. Expected ${expected}.`,
      `A proxy, the sign-in page of a network, or another API answers for ${target.output('ApiBaseUrl')}: open it in a browser, and check the name.`,
    );
  }
  throw new CommandFailed(
    `${method} ${path} was answered with ${code ? `${status} ${code}: ${detail}` : `${status}${text}`}. Expected ${expected}.`,
    `Look into the logs of the API and of the function, in ${target.logs}.`,
  );
}

async function send(
  target: Target,
  { method, path, headers = {} }: ApiRequest,
  signal: AbortSignal,
): Promise<ApiResponse> {
  const url = `${target.output('ApiBaseUrl').replace(/\/$/, '')}${path}`;
  const timeout = AbortSignal.timeout(deadline);
  try {
    const response = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
    });
    const contentType = response.headers.get('content-type');
    const body = await response.text();
    return { status: response.status, contentType, body: parseJson(body) ?? body };
  } catch (error) {
    if (signal.aborted) throw error;
    throw new CommandFailed(
      timeout.aborted
        ? `${method} ${url} was not answered within ${deadline / 1_000} s.`
        : `${method} ${url} could not be sent: ${reasonOf(error)}.`,
      target.local
        ? `Start the environments of this machine: ${startCommand}`
        : 'Check the network, the name in ApiBaseUrl, and that the stack is deployed.',
    );
  }
}

/** `fetch` says why in the cause. */
const reasonOf = (error: unknown) => (((error as Error).cause ?? error) as Error).message;
