import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import { proxyAgent } from '../shell/aws';
import type { DeployedEnvironment } from '../shell/deployed-environment';
import { CommandFailed } from '../shell/failure';
import { parseJson } from '../shell/json';
import { type CallerClaims, signAccessToken, signUserAction } from './signing';

export interface ApiResponse {
  readonly status: number;
  readonly contentType: string | null;
  /** Parsed if JSON; text otherwise. */
  readonly body: unknown;
}

interface ApiRequest {
  readonly method: 'DELETE' | 'GET';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Milliseconds. The gateway's timeout is 29 s. */
const deadline = 35_000;

export async function callApi(
  target: DeployedEnvironment,
  { method, path, headers = {} }: ApiRequest,
  signal: AbortSignal,
): Promise<ApiResponse> {
  const url = `${target.output('ApiBaseUrl').replace(/\/$/, '')}${path}`;
  const timeout = AbortSignal.timeout(deadline);
  try {
    // Unlike `fetch`, which may have a proxy of its own: https://nodejs.org/docs/latest-v24.x/api/http.html#built-in-proxy-support
    const { request } = url.startsWith('https:') ? https : http;
    const sent = request(url, {
      ...{ method, headers, agent: target.local ? false : proxyAgent() },
      signal: AbortSignal.any([signal, timeout]),
    }).end();
    const [response] = (await once(sent, 'response')) as [http.IncomingMessage];
    const body = await text(response);
    const { statusCode: status = 0, headers: answered } = response;
    return { status, contentType: answered['content-type'] ?? null, body: parseJson(body) ?? body };
  } catch (error) {
    if (signal.aborted) throw error;
    const { message, code } = error as NodeJS.ErrnoException;
    throw new CommandFailed(
      timeout.aborted
        ? `${method} ${url} timed out after ${deadline / 1_000} s.`
        : `${method} ${url} could not be sent: ${message || code}.`,
      target.local
        ? `Start the environments of this machine: npm start`
        : 'Check the network, the host name in ApiBaseUrl, and that the stack is deployed.',
    );
  }
}

export function unexpectedResponse(
  target: DeployedEnvironment,
  { method, path }: ApiRequest,
  { status, contentType, body }: ApiResponse,
  expected: string,
): never {
  const text = (typeof body === 'string' ? body.replace(/\s+/g, ' ') : JSON.stringify(body)).slice(0, 500);
  throw new CommandFailed(
    `${method} ${path} returned ${status}, ${contentType ?? 'no content type'}: ${text}. Expected ${expected}.`,
    /json/.test(contentType ?? '')
      ? `See the logs of the API and the function in ${target.logs}.`
      : `A proxy or a network's sign-in page answers instead of ${target.output('ApiBaseUrl')}: open it in a browser.`,
  );
}

/** Sends a deletion with an access token and a user action, both valid for five minutes. */
export async function sendDeletion(
  target: DeployedEnvironment,
  caller: CallerClaims,
  userGroupId: string,
  signal: AbortSignal,
) {
  const [method, path] = ['DELETE', `/auth/user-groups/${userGroupId}`] as const;
  const [access, action] = await Promise.all([
    signAccessToken(target, caller, 300),
    signUserAction(target, caller, { method, path, body: '' }),
  ]);
  const headers = { authorization: `Bearer ${access.token}`, 'x-svc-useraction': action.token };
  const request = { method, path, headers };
  return { request, answer: await callApi(target, request, signal) };
}
