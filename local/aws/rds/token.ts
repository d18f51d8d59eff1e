import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** Credentials of the local AWS services. */
export interface AccessKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** The connection that a token must authorize. */
export interface TokenAudience {
  readonly host: string;
  readonly port: number;
  readonly region: string;
  readonly user: string;
}

/** Seconds. https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/UsingWithRDS.IAMDBAuth.html */
const lifetime = 900;
/** Seconds. https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html */
const clockSkew = 300;

/**
 * Checks an IAM database token, a presigned `connect` request without `https://`, by signing the same request and comparing
 * signatures. https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/UsingWithRDS.IAMDBAuth.Connecting.html
 */
export function checkToken(
  token: string,
  audience: TokenAudience,
  findAccessKey: (accessKeyId: string) => AccessKey | undefined,
  now: Date,
): { readonly accessKeyId: string } | { readonly refusal: string } {
  const given = new URLSearchParams(token.slice(token.indexOf('?')));
  const [accessKeyId = ''] = (given.get('X-Amz-Credential') ?? '').split('/');
  const accessKey = findAccessKey(accessKeyId);
  if (!accessKey) return { refusal: 'unknown access key' };
  const time = given.get('X-Amz-Date') ?? '';
  const iso = time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
  const age = (now.getTime() - Date.parse(iso)) / 1000;
  if (!(age >= -clockSkew)) return { refusal: 'its date is missing, malformed or in the future' };
  if (age > lifetime) return { refusal: 'it has expired' };
  const expected = sign(audience, accessKey, time);
  const signature = Buffer.from(given.get('X-Amz-Signature') ?? '');
  if (signature.length === expected.length && timingSafeEqual(signature, expected)) return { accessKeyId };
  return { refusal: 'signed with another key, or for another host, port, region or user' };
}

/** Signature Version 4. https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
function sign({ host, port, region, user }: TokenAudience, key: AccessKey, time: string): Buffer {
  const scope = `${time.slice(0, 8)}/${region}/rds-db/aws4_request`;
  // Sorted by name.
  const parameters = {
    Action: 'connect',
    DBUser: user,
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': `${key.accessKeyId}/${scope}`,
    'X-Amz-Date': time,
    'X-Amz-Expires': String(lifetime),
    ...(key.sessionToken !== undefined && { 'X-Amz-Security-Token': key.sessionToken }),
    'X-Amz-SignedHeaders': 'host',
  };
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  const request = ['GET', '/', query.join('&'), `host:${host}:${port}`, '', 'host', sha256('')].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(request)].join('\n');
  const signingKey = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${key.secretAccessKey}`);
  return Buffer.from(hmac(signingKey, toSign).toString('hex'));
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
