import { createHmac } from 'node:crypto';

/** The signed content: Standard Webhooks 1.0.0, https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
interface SignedContent {
  readonly id: string;
  /** Seconds since 1970, of this attempt. */
  readonly timestamp: number;
  readonly body: string;
}

/** The headers that carry the signature, all with the same value: the name in Standard Webhooks, then the two of the specification. */
export const signatureHeaders = ['webhook-signature', 'X-SVC-WEBHOOK-SIGNATURE', 'Svc-Signature'] as const;

/** The value of the signature headers: one `v1,<base64>` per secret, newest first, separated by spaces. */
export function sign({ id, timestamp, body }: SignedContent, secrets: readonly Uint8Array[]): string {
  return secrets
    .map((secret) => createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64'))
    .map((signature) => `v1,${signature}`)
    .join(' ');
}

/** The message whose HMAC_SHA_256, computed by KMS, is this version of the webhook's secret. */
export const secretMessage = (webhookId: string, version: number): Uint8Array =>
  Buffer.from(`${webhookId}.${version}`);

export const secretLength = 32;

export const secretText = (secret: Uint8Array): string => `whsec_${Buffer.from(secret).toString('base64')}`;

/** Milliseconds for which a rotated secret still signs, alongside its successor. */
export const rotationOverlap = 24 * 3_600_000;
