import type { Webhook } from '../../domain/operations';
import { readFields } from '../json';
import type { Target } from '../target';
import { openWebhookSecrets } from '../webhook/secrets';
import { describeWebhook, listWebhooks } from '../webhook/webhook';
import type { SigningSecret } from './verification';

/** Finds the secrets that a delivery with this body may be signed by. */
export type FindSecrets = (body: string) => Promise<readonly SigningSecret[]>;

/** The secrets of one webhook: the current one, and the one before it. */
export function secretsOfWebhook(target: Target, webhookId: string): FindSecrets {
  return async () => secretsOf(target, [await describeWebhook(target, webhookId)]);
}

/** The secrets of all webhooks of the organization that the body names. */
export function secretsOfOrganization(target: Target): FindSecrets {
  return async (body) => {
    const { organizationId } = readFields(body);
    return typeof organizationId === 'string'
      ? secretsOf(target, await listWebhooks(target, organizationId))
      : [];
  };
}

async function secretsOf(target: Target, webhooks: readonly Webhook[]): Promise<readonly SigningSecret[]> {
  const deriveSecret = await openWebhookSecrets(target);
  const secretOf = async (webhookId: string, secretVersion: number) => ({
    webhookId,
    secretVersion,
    secret: await deriveSecret(webhookId, secretVersion),
  });
  return Promise.all(
    webhooks.flatMap(({ webhookId, secretVersion: current }) =>
      [current, current - 1].filter((version) => version > 0).map((version) => secretOf(webhookId, version)),
    ),
  );
}
