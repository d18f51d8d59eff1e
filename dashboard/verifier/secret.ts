import { decodeBase64 } from './base64';

export type ReadSecret =
  | { readonly ok: true; readonly key: Uint8Array<ArrayBuffer> }
  | { readonly ok: false; readonly problem: string };

const prefix = 'whsec_';

/** Bytes of a secret: those of HMAC-SHA-256. */
const keyLength = 32;

/** Reads a secret as `webhook add` and `webhook rotate` print it. */
export function readSecret(pasted: string): ReadSecret {
  const text = pasted.trim();
  if (text === '') return refused('The secret is missing.');
  if (!text.startsWith(prefix))
    return refused('The secret does not begin with “whsec_”: it is not a secret, or a part of one.');
  const key = decodeBase64(text.slice(prefix.length));
  if (!key) return refused('The secret is not base64 after “whsec_”: characters were changed or lost.');
  if (key.length !== keyLength)
    return refused(
      `The secret has ${key.length} bytes instead of ${keyLength}: a part of it is missing, or it is another service’s.`,
    );
  return { ok: true, key };
}

const refused = (problem: string): ReadSecret => ({ ok: false, problem });
