import { Webhook } from 'standardwebhooks';
import { signatureHeaders } from '../../domain/webhook-secrets';

/** A secret that a delivery may be signed by. */
export interface SigningSecret {
  readonly secret: string;
  /** Whose it is, when that is known. */
  readonly webhookId?: string;
  readonly secretVersion?: number;
}

export interface SignedRequest {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export type Verification =
  | { readonly verified: true; readonly by: SigningSecret }
  | { readonly verified: false; readonly reason: string };

/**
 * Verifies a delivery as any receiver would, with the library of Standard Webhooks: under every header that carries
 * the signature, and by any of the secrets.
 */
export function verify(request: SignedRequest, secrets: readonly SigningSecret[]): Verification {
  let reason = 'there is no secret to verify it by';
  for (const by of secrets) {
    const refusal = refusalBy(by.secret, request);
    if (refusal === undefined) return { verified: true, by };
    reason = refusal;
  }
  return { verified: false, reason };
}

function refusalBy(secret: string, { headers, body }: SignedRequest): string | undefined {
  for (const name of signatureHeaders) {
    const standard = {
      'webhook-id': String(headers['webhook-id'] ?? ''),
      'webhook-timestamp': String(headers['webhook-timestamp'] ?? ''),
      'webhook-signature': String(headers[name] ?? ''),
    };
    try {
      new Webhook(secret).verify(body, standard, { jsonParse: false });
    } catch (error) {
      return `${name}: ${(error as Error).message}`;
    }
  }
  return undefined;
}
