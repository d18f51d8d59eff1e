import { createHmac } from 'node:crypto';

/** What is signed: Standard Webhooks 1.0.0, https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
export interface SignedContent {
  readonly id: string;
  /** Seconds since 1970, of this attempt. */
  readonly timestamp: number;
  readonly body: string;
}

/** The headers that carry the signature, all with the same value: whichever a receiver knows, it verifies. */
export const signatureHeaders = ['webhook-signature', 'x-svc-webhook-signature', 'svc-signature'] as const;

/** The value of the signature headers: one `v1,<base64>` for each secret, the newest first, with spaces between. */
export function sign({ id, timestamp, body }: SignedContent, secrets: readonly Uint8Array[]): string {
  return secrets
    .map((secret) => createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64'))
    .map((signature) => `v1,${signature}`)
    .join(' ');
}

/** What KMS makes a MAC of, HMAC_SHA_256, to derive a webhook's secret in one of its versions. */
export const secretMessage = (webhookId: string, version: number): Uint8Array =>
  Buffer.from(`${webhookId}.${version}`);

/** Bytes of a secret. */
export const secretLength = 32;

/** A secret as receivers are given it. */
export const secretText = (secret: Uint8Array): string => `whsec_${Buffer.from(secret).toString('base64')}`;

/** How long a rotated secret signs beside its successor: milliseconds. */
export const rotationOverlap = 24 * 3_600_000;
