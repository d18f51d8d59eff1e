import { fail, ok } from '../../../domain/result';
import { rotationOverlap } from '../../../domain/webhook-secrets';
import { sql } from '../../database/sql';
import { operation } from '../operation';
import { flagField, idField } from '../request';
import { toIsoTime, webhookNotFound } from '../webhook';

/**
 * Gives a webhook its next secret, which signs beside the present one for 24 h.
 *
 * Two secrets sign at most, so another rotation within that time ends the older one at once. It is refused unless
 * `again` is true: otherwise, repeating a command whose answer was lost would break the receiver.
 */
export const rotateWebhookSecret = operation(
  { webhookId: idField('wh'), again: flagField },
  async ({ webhookId, again }, ports) => {
    const outcome = await ports.database.execute(sql`
      with rotated as (
        update webhooks set secret_version = secret_version + 1, rotated_at = now()
        where webhook_id = ${webhookId}
          and (${again} or rotated_at is null or rotated_at < now() - make_interval(secs => ${rotationOverlap / 1_000}::double precision))
        returning secret_version, rotated_at)
      select coalesce(rotated.secret_version, webhooks.secret_version) as secret_version,
        cast(extract(epoch from coalesce(rotated.rotated_at, webhooks.rotated_at, now())) as double precision) as rotated_at,
        rotated.secret_version is not null as done
      from webhooks left join rotated on true
      where webhook_id = ${webhookId}`);
    if (!outcome.ok) return outcome;

    const [webhook] = outcome.value;
    if (!webhook) return webhookNotFound(webhookId, ports.environment);
    const rotatedAt = toIsoTime(webhook.rotated_at);
    const previousSignsUntil = new Date(Date.parse(rotatedAt) + rotationOverlap).toISOString();
    if (!webhook.done) {
      return fail({
        code: 'rotation_running',
        message: `The secret of ${webhookId} was rotated at ${rotatedAt}, and the one before it signs until ${previousSignsUntil}. Another rotation would end that one at once: ask for it with "--again".`,
      });
    }
    return ok({ webhookId, secretVersion: webhook.secret_version, rotatedAt, previousSignsUntil });
  },
);
