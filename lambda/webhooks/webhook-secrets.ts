import { GenerateMacCommand, type KMSClient } from '@aws-sdk/client-kms';
import { fail, ok, type Result } from '../../domain/result';
import { secretLength, secretMessage } from '../../domain/webhook-secrets';

/** KMS cannot be reached, or refuses. */
export interface SecretUnavailable {
  readonly kind: 'secret_unavailable';
  /** For the log. */
  readonly reason: string;
}

/** The signing secrets of webhooks. */
export interface WebhookSecrets {
  /** The 32 bytes of a webhook's secret in one of its versions: always the same for the same two. */
  secret(webhookId: string, version: number): Promise<Result<Uint8Array, SecretUnavailable>>;
}

/** Cached secrets; they never change, so none expires. */
const cacheSize = 1_000;
/** Milliseconds for KMS to answer, the client's own retries included. */
const deadline = 5_000;

/**
 * Derives secrets by an HMAC_256 key of KMS from `webhookId.version`, so that none is stored. KMS documents the use of
 * the result for key derivation: https://docs.aws.amazon.com/kms/latest/APIReference/API_GenerateMac.html
 */
export function createWebhookSecrets(options: {
  readonly kms: KMSClient;
  readonly keyId: string;
}): WebhookSecrets {
  const cache = new Map<string, Promise<Uint8Array>>();

  const derive = async (webhookId: string, version: number): Promise<Uint8Array> => {
    const { Mac } = await options.kms.send(
      new GenerateMacCommand({
        KeyId: options.keyId,
        MacAlgorithm: 'HMAC_SHA_256',
        Message: secretMessage(webhookId, version),
      }),
      { abortSignal: AbortSignal.timeout(deadline) },
    );
    if (Mac?.length !== secretLength) throw new Error('KMS answered without a MAC of its length');
    return Mac;
  };

  return {
    async secret(webhookId, version) {
      const message = `${webhookId}.${version}`;
      const secret = cache.get(message) ?? derive(webhookId, version);
      // Taken out and put back: the map's first entry is the one that was not used for the longest time.
      cache.delete(message);
      cache.set(message, secret);
      const [oldest] = cache.keys();
      if (cache.size > cacheSize && oldest !== undefined) cache.delete(oldest);
      try {
        return ok(await secret);
      } catch (error) {
        if (cache.get(message) === secret) cache.delete(message);
        return fail({ kind: 'secret_unavailable', reason: error instanceof Error ? error.name : 'unknown' });
      }
    },
  };
}
