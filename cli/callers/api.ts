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

/** The target of the API's custom domain name, in the stack. Without one undefined, as on this machine. */
export const apiDomainTarget = (target: DeployedEnvironment): string | undefined =>
  target.local ? undefined : target.optionalOutput('ApiDomainTarget');

interface ApiCall {
  /** Connects to where DNS leads, as callers do. @default false */
  readonly byDns?: boolean;
  /** Milliseconds. @default 35,000: the gateway's timeout is 29 s */
  readonly deadline?: number;
}

/**
 * Calls the API of the stack. A custom domain name's requests go to its target there, with the name in SNI and `Host`, which
 * must be equal: DNS may lead to no stack yet, or to the one that served before.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-security-policies.html#apigateway-security-policies-endpoint-access-mode
 */
export async function callApi(
  target: DeployedEnvironment,
  { method, path, headers = {} }: ApiRequest,
  signal: AbortSignal,
  { byDns = false, deadline = 35_000 }: ApiCall = {},
): Promise<ApiResponse> {
  const url = `${target.output('ApiBaseUrl').replace(/\/$/, '')}${path}`;
  const hostname = byDns ? undefined : apiDomainTarget(target);
  const sending = `${method} ${url}${hostname ? ` to ${hostname}` : ''}`;
  const timeout = AbortSignal.timeout(deadline);
  try {
    // Unlike `fetch`, which may have a proxy of its own: https://nodejs.org/docs/latest-v24.x/api/http.html#built-in-proxy-support
    const { request } = url.startsWith('https:') ? https : http;
    const { host, hostname: servername } = new URL(url);
    const sent = request(url, {
      ...(hostname && { hostname, servername }),
      method,
      headers: { host, ...headers },
      agent: target.local ? false : proxyAgent(),
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
        ? `${sending} timed out after ${deadline / 1_000} s.`
        : `${sending} could not be sent: ${message || code}.`,
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
