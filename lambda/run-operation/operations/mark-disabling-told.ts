import { ok } from '../../../domain/result';
import { sql } from '../../database/sql';
import { operation } from '../operation';
import { idField, timeField } from '../request';

const shape = { webhookId: idField('wh'), disabledAt: timeField };

/** Remembers that an organization was told of a disabling, so that no delivery tells it again. Repeating it changes nothing. */
export const markDisablingTold = operation(shape, async ({ webhookId, disabledAt }, { database }) => {
  const marked = await database.execute(sql`
    update webhooks set disabling_untold = false
    where webhook_id = ${webhookId} and disabled_at = ${disabledAt}::timestamptz`);
  return marked.ok ? ok({ webhookId }) : marked;
});
