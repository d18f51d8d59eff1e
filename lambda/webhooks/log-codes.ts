/** The registered log codes of the webhook functions: every line that they write carries one. */
export const webhookLogCodes = {
  eventFannedOut: 'EVENT_FANNED_OUT',
  eventRedelivered: 'EVENT_REDELIVERED',
  eventRefused: 'EVENT_REFUSED',
  eventWaits: 'EVENT_WAITS',
  attempted: 'WEBHOOK_ATTEMPTED',
  attemptNotRecorded: 'WEBHOOK_ATTEMPT_NOT_RECORDED',
  disabled: 'WEBHOOK_DISABLED',
  slow: 'WEBHOOK_SLOW',
  deliveryStopped: 'WEBHOOK_DELIVERY_STOPPED',
  deliveryWaits: 'WEBHOOK_DELIVERY_WAITS',
  deliveryRefused: 'WEBHOOK_DELIVERY_REFUSED',
  expiredPurged: 'EXPIRED_PURGED',
} as const;
