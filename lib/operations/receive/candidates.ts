import type { Target } from '../target';
import { openWebhookSecrets } from '../webhook/secrets';
import { describeWebhook, listWebhooks, type Webhook } from '../webhook/webhook';
import type { Candidate } from './verification';

/** Finds the secrets that a delivery with this body may be signed by. */
export type FindCandidates = (body: string) => Promise<readonly Candidate[]>;

/** The secrets of one webhook: the present one, and the one before it. */
export function candidatesOfWebhook(target: Target, webhookId: string): FindCandidates {
  return async () => secretsOf(target, [await describeWebhook(target, webhookId)]);
}

/** The secrets of all webhooks of the organization that the body names. */
export function candidatesOfOrganization(target: Target): FindCandidates {
  return async (body) => {
    const organizationId = readOrganization(body);
    return organizationId ? secretsOf(target, await listWebhooks(target, organizationId)) : [];
  };
}

async function secretsOf(target: Target, webhooks: readonly Webhook[]): Promise<readonly Candidate[]> {
  const secrets = await openWebhookSecrets(target);
  const versions = webhooks.flatMap(({ webhookId, secretVersion }) =>
    [secretVersion, secretVersion - 1]
      .filter((version) => version > 0)
      .map((version) => ({ webhookId, version })),
  );
  return Promise.all(
    versions.map(async ({ webhookId, version }) => ({
      webhookId,
      secretVersion: version,
      secret: await secrets.secret(webhookId, version),
    })),
  );
}

function readOrganization(body: string): string | undefined {
  try {
    const { organizationId } = JSON.parse(body) as { organizationId?: unknown };
    return typeof organizationId === 'string' ? organizationId : undefined;
  } catch {
    return undefined;
  }
}
