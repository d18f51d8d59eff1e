import type { DisabledWebhook } from '../../domain/event';

/** Columns of a webhook's row that say whether it was disabled, why and when (milliseconds since 1970). */
export const disablingColumns = {
  organizationId: 'text?',
  disabledReason: 'text?',
  disabledAt: 'number?',
} as const;

/** `undefined` unless it is disabled. */
export const disablingOf = (
  webhookId: string,
  row: Readonly<Record<'organizationId' | 'disabledReason', string | null> & { disabledAt: number | null }>,
): DisabledWebhook | undefined =>
  row.organizationId === null || row.disabledReason === null || row.disabledAt === null
    ? undefined
    : {
        webhookId,
        organizationId: row.organizationId,
        reason: row.disabledReason,
        disabledAt: row.disabledAt,
      };
