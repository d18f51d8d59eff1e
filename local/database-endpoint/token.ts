import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** Credentials of the local AWS services. */
export interface AccessKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** The endpoint and user that a sign-in token must be for. */
export interface TokenAudience {
  /** Host names that the endpoint answers to. */
  readonly hosts: readonly string[];
  readonly port: number;
  readonly region: string;
  readonly user: string;
  readonly credentials: AccessKey;
  readonly now: Date;
}

const service = 'rds-db';
/** Source: https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/UsingWithRDS.IAMDBAuth.html */
const lifetimeInSeconds = 900;
/** Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html */
const clockSkewInSeconds = 300;

/**
 * Why an IAM database token (a presigned `connect` request without its `https://`) is not valid; undefined when it is.
 * Source: https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/UsingWithRDS.IAMDBAuth.Connecting.html
 */
export function invalidTokenReason(token: string, audience: TokenAudience): string | undefined {
  if (!URL.canParse(`https://${token}`)) return 'it is not a presigned request';
  const parsed = new URL(`https://${token}`);
  const parameters = [...parsed.searchParams];
  const given = Object.fromEntries(parameters);
  if (Object.keys(given).length !== parameters.length) return 'a parameter is given twice';

  const authority = token.split('/', 1)[0] ?? '';
  const signedAt = instant(given['X-Amz-Date'] ?? '');
  const date = given['X-Amz-Date']?.slice(0, 8);
  const scope = `${date}/${audience.region}/${service}/aws4_request`;
  if (!audience.hosts.some((host) => authority === `${host}:${audience.port}`))
    return 'it is for another host or port';
  if (given.Action !== 'connect' || parsed.pathname !== '/') return 'it is not for connecting';
  if (given.DBUser !== audience.user) return 'it is for another database user';
  if (given['X-Amz-Algorithm'] !== 'AWS4-HMAC-SHA256') return 'its algorithm is unknown';
  if (given['X-Amz-SignedHeaders'] !== 'host') return 'it does not sign the host alone';
  if (given['X-Amz-Credential'] !== `${audience.credentials.accessKeyId}/${scope}`) {
    return 'its access key, date, region or service is another';
  }
  if (given['X-Amz-Security-Token'] !== audience.credentials.sessionToken)
    return 'its session token is another';
  if (given['X-Amz-Expires'] !== String(lifetimeInSeconds)) return 'its lifetime is not 15 minutes';
  const age = (audience.now.getTime() - signedAt) / 1000;
  if (!(age >= -clockSkewInSeconds)) return 'its date is in the future or not readable';
  if (age > lifetimeInSeconds) return 'it has expired';

  const expected = signature(parameters, authority, scope, audience.credentials.secretAccessKey);
  return matches(expected, given['X-Amz-Signature'] ?? '') ? undefined : 'its signature is wrong';
}

/** The access key id that a token names; empty when it is no token. */
export function accessKeyIdOfToken(token: string): string {
  if (!URL.canParse(`https://${token}`)) return '';
  return new URL(`https://${token}`).searchParams.get('X-Amz-Credential')?.split('/')[0] ?? '';
}

/** Milliseconds since 1970 of a time like 20261120T093000Z; NaN when it is none. */
function instant(time: string): number {
  return Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

/** Signature Version 4. Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
function signature(
  parameters: readonly (readonly [string, string])[],
  host: string,
  scope: string,
  secretAccessKey: string,
): string {
  const query = parameters
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .sort()
    .join('&');
  const request = ['GET', '/', query, `host:${host}`, '', 'host', sha256('')].join('\n');
  const time = Object.fromEntries(parameters)['X-Amz-Date'];
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(request)].join('\n');
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  return hmac(key, toSign).toString('hex');
}

const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

function matches(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
