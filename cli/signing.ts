import { createPublicKey, type KeyObject, randomUUID, verify } from 'node:crypto';
import { accessToken, bodyHash, thumbprint, userAction } from '../domain/tokens';
import { callAws } from './aws';
import { CommandFailed } from './failure';
import { runOperation } from './operations-function';
import type { CommonOptions } from './options';
import type { Target } from './target';
import type { Terminal } from './terminal';

/** The caller's claims in a token. */
export interface CallerClaims {
  readonly sub: string;
  readonly org: string;
  readonly kind: string;
}

/** Looks a caller up in its region. A deactivated one gets tokens, too, with a warning: the API refuses them. */
export async function readCallerClaims(target: Target, identityId: string): Promise<CallerClaims> {
  const { organizationId, kind, active } = await runOperation(target, 'describe-identity', { identityId });
  if (!active) target.note(`warning: ${identityId} is deactivated; the API will refuse it.`);
  return { sub: identityId, org: organizationId, kind };
}

interface SignedToken {
  readonly token: string;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
}

/** Prints a token bare, for `$(…)`, or as JSON with the time when it expires. */
export function printToken(
  { token, expiresAt }: SignedToken,
  { json }: CommonOptions,
  terminal: Terminal,
): void {
  terminal.result(
    json ? JSON.stringify({ token, expiresAt: new Date(expiresAt * 1000).toISOString() }) : token,
  );
}

/**
 * Has the region's key sign an access token.
 *
 * @param lifetime seconds, at most a day
 */
export async function signAccessToken(
  target: Target,
  caller: CallerClaims,
  lifetime: number,
): Promise<SignedToken> {
  const iat = Math.floor(Date.now() / 1000);
  const exp = iat + Math.floor(lifetime);
  const claims = {
    iss: target.environment.tokenIssuer,
    aud: accessToken.audience,
    ...caller,
    iat,
    nbf: iat,
    exp,
  };
  const token = await sign(target, target.output('TokenSigningKeyArn'), accessToken.type, claims);
  return { token, expiresAt: exp };
}

/** The request that a user action signs. */
export interface SignedRequest {
  readonly method: string;
  /** Without query. */
  readonly path: string;
  readonly body: string;
  /** Seconds until the signature expires, at most five minutes. */
  readonly expiresIn: number;
}

/** Has the region's key sign one request of the caller, for one use. */
export async function signUserAction(
  target: Target,
  { sub, org }: CallerClaims,
  { method, path, body, expiresIn }: SignedRequest,
): Promise<SignedToken> {
  const iat = Math.floor(Date.now() / 1000);
  const exp = iat + Math.floor(expiresIn);
  const claims = {
    iss: target.environment.tokenIssuer,
    aud: userAction.audience,
    sub,
    org,
    jti: randomUUID(),
    htm: method,
    htp: path,
    bh: bodyHash(body),
    iat,
    exp,
  };
  const token = await sign(target, target.output('UserActionSigningKeyArn'), userAction.type, claims);
  return { token, expiresAt: exp };
}

/**
 * Signs claims with ES256 by a key of KMS, whose private half never leaves it. Needs `kms:GetPublicKey` and `kms:Sign`.
 *
 * @param type the header's `typ`
 */
async function sign(
  target: Target,
  keyArn: string,
  type: string,
  claims: Readonly<Record<string, unknown>>,
): Promise<string> {
  const { KMS } = await import('@aws-sdk/client-kms');
  const client = new KMS(target.clientSettings('kms'));
  const { PublicKey } = await callAws(target, 'kms:GetPublicKey', (options) =>
    client.getPublicKey({ KeyId: keyArn }, options),
  );
  const key = readPublicKey(PublicKey);
  if (key?.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new CommandFailed(
      `${keyArn} is not a key of curve P-256 (ECC_NIST_P256).`,
      'Check the outputs file.',
    );
  const header = { alg: 'ES256', kid: thumbprint(key.export({ format: 'jwk' })), typ: type };
  const [head, payload] = [header, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const content = Buffer.from(`${head}.${payload}`);
  const message = {
    KeyId: keyArn,
    Message: content,
    MessageType: 'RAW',
    SigningAlgorithm: 'ECDSA_SHA_256',
  } as const;
  const { Signature } = await callAws(target, 'kms:Sign', (options) => client.sign(message, options));
  const signature = joseSignature(Signature ?? new Uint8Array());
  // Refuses what the region would refuse, malformed signatures included.
  if (!verify('sha256', content, { key, dsaEncoding: 'ieee-p1363' }, signature))
    throw new CommandFailed(`The signature that ${keyArn} made does not verify with its own public key.`);
  return `${content}.${signature.toString('base64url')}`;
}

function readPublicKey(der: Uint8Array | undefined): KeyObject | undefined {
  try {
    return der && createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

/**
 * Converts a P-256 signature from DER (RFC 3279, section 2.2.3: what `kms:Sign` returns) to the 64 bytes `r || s`
 * of JOSE (RFC 7518, section 3.4). Other bytes give a signature that does not verify.
 */
export function joseSignature(der: Uint8Array): Buffer {
  // SEQUENCE, its length; INTEGER, its length, r; INTEGER, its length, s. All lengths are below 128: one byte each.
  const endOfR = 4 + (der[3] ?? 0);
  return Buffer.concat([coordinate(der.subarray(4, endOfR)), coordinate(der.subarray(endOfR + 2))]);
}

/** DER puts a zero byte before an integer whose first bit is set, and omits other leading zeros; JOSE pads to 32. */
const coordinate = (integer: Uint8Array) => Buffer.concat([Buffer.alloc(32), integer]).subarray(-32);
