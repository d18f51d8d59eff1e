import { timingSafeEqual } from 'node:crypto';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import type { AccessKey } from '../iam/permissions';

/** The connection that a token must authorize. */
interface TokenAudience {
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
export async function checkToken(
  token: string,
  audience: TokenAudience,
  findAccessKey: (accessKeyId: string) => AccessKey | undefined,
  now: Date,
): Promise<{ readonly accessKeyId: string } | { readonly refusal: string }> {
  const given = new URLSearchParams(token.slice(token.indexOf('?')));
  const [accessKeyId = ''] = (given.get('X-Amz-Credential') ?? '').split('/');
  const accessKey = findAccessKey(accessKeyId);
  if (!accessKey) return { refusal: 'unknown access key' };
  const time = given.get('X-Amz-Date') ?? '';
  const iso = time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
  const age = (now.getTime() - Date.parse(iso)) / 1000;
  if (!(age >= -clockSkew)) return { refusal: 'its date is missing, malformed or in the future' };
  if (age > lifetime) return { refusal: 'it has expired' };
  const expected = await signatureFor(audience, accessKey, new Date(iso));
  const signature = Buffer.from(given.get('X-Amz-Signature') ?? '');
  if (signature.length === expected.length && timingSafeEqual(signature, expected)) return { accessKeyId };
  return { refusal: 'signed with another key, or for another host, port, region or user' };
}

async function signatureFor(
  { host, port, region, user }: TokenAudience,
  credentials: AccessKey,
  signingDate: Date,
): Promise<Buffer> {
  const { query } = await new SignatureV4({
    ...{ service: 'rds-db', region, credentials },
    sha256: Sha256,
  }).presign(
    {
      ...{ method: 'GET', protocol: 'https:', hostname: host, port, path: '/' },
      query: { Action: 'connect', DBUser: user },
      headers: { host: `${host}:${port}` },
    },
    { signingDate, expiresIn: lifetime },
  );
  return Buffer.from(String(query?.['X-Amz-Signature']));
}
