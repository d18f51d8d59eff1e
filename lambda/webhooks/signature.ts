import { createHmac } from 'node:crypto';

/** What is signed: Standard Webhooks 1.0.0, https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
export interface SignedContent {
  readonly id: string;
  /** Seconds since 1970, of this attempt. */
  readonly timestamp: number;
  readonly body: string;
}

/** The value of `webhook-signature`: one `v1,<base64>` for each secret, the newest first, with spaces between. */
export function sign({ id, timestamp, body }: SignedContent, secrets: readonly Uint8Array[]): string {
  return secrets
    .map((secret) => createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64'))
    .map((signature) => `v1,${signature}`)
    .join(' ');
}

/** A secret as receivers are given it. */
export function secretText(secret: Uint8Array): string {
  return `whsec_${Buffer.from(secret).toString('base64')}`;
}
