import { decodeBase64 } from './base64';

export interface ReadSignatures {
  /** Signatures of the version that this page knows: HMAC-SHA-256. */
  readonly known: readonly Uint8Array<ArrayBuffer>[];
  /** What is wrong with each of the others, as a sentence. */
  readonly problems: readonly string[];
}

/** Bytes of an HMAC-SHA-256. */
const signatureLength = 32;

/**
 * Reads the value of a signature header: signatures with blanks between, each `v1,` and base64.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function readSignatures(value: string): ReadSignatures {
  const known: Uint8Array<ArrayBuffer>[] = [];
  const problems: string[] = [];
  for (const text of value.split(/\s+/).filter(Boolean)) {
    const read = readSignature(text);
    if (typeof read === 'string') problems.push(read);
    else known.push(read);
  }
  return { known, problems };
}

function readSignature(text: string): Uint8Array<ArrayBuffer> | string {
  const [, version, encoded = ''] = /^([^,]*),(.*)$/.exec(text) ?? [];
  if (version === undefined) return 'A signature has no version: it has to begin with “v1,”.';
  if (version !== 'v1')
    return `A signature is of version “${version}”, which is unknown: receivers pass over it.`;
  const bytes = decodeBase64(encoded);
  if (!bytes) return 'A signature is not base64 after “v1,”: characters were changed or lost.';
  if (bytes.length !== signatureLength)
    return `A signature has ${bytes.length} bytes instead of ${signatureLength}: a part of it is missing.`;
  return bytes;
}

/** https://www.standardwebhooks.com: HMAC-SHA-256 over id, timestamp and body, with dots between. */
export async function sign(
  key: Uint8Array<ArrayBuffer>,
  { id, timestamp, body }: { readonly id: string; readonly timestamp: string; readonly body: string },
): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['sign']);
  const content = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, content));
}

export const sameBytes = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, index) => byte === other[index]);
