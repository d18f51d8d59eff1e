import { GenerateMacCommand, type KMSClient } from '@aws-sdk/client-kms';
import { fail, ok, type Result, type Unavailable } from '../../domain/result';
import { secretLength, secretMessage } from '../../domain/signature';
import { timeouts } from './timeouts';

/** KMS is unreachable, or rejected the request. */
export type SecretUnavailable = Unavailable<'secret_unavailable'>;

export interface WebhookSecrets {
  /** The 32 bytes of a version of a webhook's secret. Deterministic. */
  secret(webhookId: string, version: number): Promise<Result<Uint8Array, SecretUnavailable>>;
}

/** Cached secrets. They never change, so they do not expire. */
const cacheSize = 1_000;

// An HMAC_256 key of KMS derives each secret from `webhookId.version`, so that none is stored:
// https://docs.aws.amazon.com/kms/latest/APIReference/API_GenerateMac.html
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
      { abortSignal: AbortSignal.timeout(timeouts.keys) },
    );
    if (Mac?.length !== secretLength) throw new Error('KMS returned no MAC of the expected length');
    return Mac;
  };

  return {
    async secret(webhookId, version) {
      const message = `${webhookId}.${version}`;
      const secret = cache.get(message) ?? derive(webhookId, version);
      // Reinserted: the map's first entry is the least recently used.
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
