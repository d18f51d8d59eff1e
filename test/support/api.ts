import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { KMS } from '@aws-sdk/client-kms';
import { signJwt } from '../../cli/callers/sign-jwt';
import { localClient } from './aws-client';
import type { LocalEnvironment } from './local-environment';
import { expectDocumented } from './openapi';
import type { Organization } from './organization';
import { documentedClaims, type Json } from './tokens';

/** A request as sent on the wire, not normalized. */
export interface WireRequest {
  readonly method?: string;
  readonly path: string;
  /** Sent in this order; names may repeat. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
}

export async function exchange(url: string, { method = 'DELETE', path, headers = [], body }: WireRequest) {
  const { hostname, port, host } = new URL(url);
  // With headers as a list, Node adds none of its own.
  const hosts = headers.some(([name]) => name === 'host') ? [] : ['host', host];
  const length = body === undefined ? [] : ['content-length', `${Buffer.byteLength(body)}`];
  const all = [...hosts, ...length, ...headers.flat()];
  const signal = AbortSignal.timeout(30_000);
  const sent = request({ hostname, port, method, path, signal, headers: all });
  const [response] = (await once(sent.end(body), 'response')) as [IncomingMessage];
  // The server may close the connection before it has read the body.
  sent.on('error', () => undefined);
  return { status: response.statusCode ?? 0, headers: response.headers, text: await readText(response) };
}

/** Sends a request, again while other tests exhaust the rate limit, and validates each response against the OpenAPI document. */
export async function send(baseUrl: string, wire: WireRequest) {
  for (;;) {
    const { status, headers, text } = await exchange(baseUrl, wire);
    expectDocumented({ method: wire.method ?? 'DELETE', path: wire.path, status, headers, body: text });
    const body: { readonly code?: string; readonly requestId?: string } = JSON.parse(text || '{}');
    if (status !== 429) return { status, headers, text, body };
    await sleep(500);
  }
}

export type TokenMaker = ReturnType<typeof openTokenMaker>;

/** A valid deletion of the organization's user group, with tokens from the command line. */
export async function walletDeletion(local: LocalEnvironment, environment: string, of: Organization) {
  const sign = (command: string, ...options: string[]) =>
    local.wallet(environment, command, '--caller', of.callerId, ...options);
  const action = ['--method', 'DELETE', '--path', deletionPath(of)];
  return deletion(of, await sign('token'), await sign('user-action', ...action));
}

export const deletion = (organization: Organization, token: string, userAction: string) => ({
  path: deletionPath(organization),
  headers: Object.entries({ authorization: `Bearer ${token}`, 'x-svc-useraction': userAction }),
});

const deletionPath = ({ userGroupId }: Organization) => `/auth/user-groups/${userGroupId}`;

/** Signs tokens with the private keys of a local environment, through its KMS; valid by default. */
export function openTokenMaker(local: LocalEnvironment, environment: string, iss: string) {
  function signer(name: 'accessToken' | 'userAction', output: string, typ: 'JWT' | 'user-action+jwt') {
    const KeyId = local.outputs(environment)[output] ?? '';
    const kms = new KMS({ ...localClient(local.endpoints.kms ?? ''), region: KeyId.split(':')[3] ?? '' });
    return (organization: Organization, claims?: Json) =>
      signJwt(kms, KeyId, typ, { ...documentedClaims(iss, organization)[name], ...claims });
  }
  return {
    accessToken: signer('accessToken', 'TokenSigningKeyArn', 'JWT'),
    userAction: signer('userAction', 'UserActionSigningKeyArn', 'user-action+jwt'),
  };
}
