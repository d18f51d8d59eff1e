import { randomUUID } from 'node:crypto';
import type { GetPublicKeyCommandInput, SignCommandInput } from '@aws-sdk/client-kms';
import type { OutputName } from '../../domain/outputs';
import { accessToken, bodyHash, userAction } from '../../domain/tokens';
import { callAws } from '../shell/aws';
import type { DeployedEnvironment } from '../shell/deployed-environment';
import { runOperation } from '../shell/operations';
import { signJwt } from './sign-jwt';

export interface CallerClaims {
  readonly sub: string;
  readonly org: string;
  readonly kind: string;
}

/** Looks up a caller in its region. Warns if it is deactivated: the API will refuse its tokens. */
export async function readCallerClaims(
  target: DeployedEnvironment,
  identityId: string,
): Promise<CallerClaims> {
  const { organizationId, kind, active } = await runOperation(target, 'describe-identity', { identityId });
  if (!active) target.note(`warning: ${identityId} is deactivated; the API will refuse it.`);
  return { sub: identityId, org: organizationId, kind };
}

const now = () => Math.floor(Date.now() / 1_000);

/** Signs an access token. @param lifetime seconds, at most a day */
export function signAccessToken(target: DeployedEnvironment, caller: CallerClaims, lifetime: number) {
  const iat = now();
  return sign(target, 'TokenSigningKeyArn', accessToken, { ...caller, iat, nbf: iat }, lifetime);
}

export interface SignedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** Signs a single request of the caller, for five minutes: the API accepts no longer. */
export function signUserAction(
  target: DeployedEnvironment,
  { sub, org }: CallerClaims,
  { method, path, body }: SignedRequest,
) {
  const claims = { sub, org, iat: now(), jti: randomUUID(), htm: method, htp: path, bh: bodyHash(body) };
  return sign(target, 'UserActionSigningKeyArn', userAction, claims, 300);
}

/** Signs claims that begin now and end after a lifetime, in seconds. */
async function sign(
  target: DeployedEnvironment,
  key: OutputName,
  { type, audience }: typeof accessToken | typeof userAction,
  own: { readonly iat: number; readonly [claim: string]: unknown },
  lifetime: number,
) {
  const { KMS } = await import('@aws-sdk/client-kms');
  const client = new KMS(target.clientSettings('kms'));
  const kms = {
    getPublicKey: (input: GetPublicKeyCommandInput) => callAws(client, 'getPublicKey', input),
    sign: (input: SignCommandInput) => callAws(client, 'sign', input),
  } as Parameters<typeof signJwt>[0];
  const exp = own.iat + lifetime;
  const claims = { iss: target.environment.tokenIssuer, aud: audience, ...own, exp };
  const token = await signJwt(kms, target.output(key), type, claims);
  return { token, expiresAt: new Date(exp * 1_000).toISOString() };
}
