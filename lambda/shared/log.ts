import { Logger } from '@aws-lambda-powertools/logger';
import { tokenRefusedLogCode } from '../../domain/routes';

/** Those of routes are in `domain/routes.ts`. No line has a token, a signature, a secret or a body. */
export const logCodes = {
  requestRefused: tokenRefusedLogCode,
  requestAllowed: 'REQUEST_ALLOWED',
  databaseNotReady: 'DATABASE_NOT_READY',
  migrationCompleted: 'SCHEMA_MIGRATION_COMPLETED',
  migrationFailed: 'SCHEMA_MIGRATION_FAILED',
  keptActive: 'KEPT_ACTIVE',
  keysExported: 'SIGNING_KEYS_EXPORTED',
  operationCompleted: 'OPERATION_COMPLETED',
  operationRefused: 'OPERATION_REFUSED',
  eventFannedOut: 'EVENT_FANNED_OUT',
  eventRedelivered: 'EVENT_REDELIVERED',
  eventRefused: 'EVENT_REFUSED',
  eventUnconfirmed: 'EVENT_UNCONFIRMED',
  eventWaits: 'EVENT_WAITS',
  webhookAttempted: 'WEBHOOK_ATTEMPTED',
  webhookAttemptNotRecorded: 'WEBHOOK_ATTEMPT_NOT_RECORDED',
  webhookDisabled: 'WEBHOOK_DISABLED',
  webhookPaused: 'WEBHOOK_PAUSED',
  webhookDeliveryStopped: 'WEBHOOK_DELIVERY_STOPPED',
  webhookDeliveryWaits: 'WEBHOOK_DELIVERY_WAITS',
  webhookDeliveryRefused: 'WEBHOOK_DELIVERY_REFUSED',
  expiredPurged: 'EXPIRED_PURGED',
  probeSent: 'PROBE_SENT',
} as const;

export type Log = Pick<Logger, 'info' | 'warn' | 'error'>;

export function createLog(serviceName: string): Log {
  return new Logger({ serviceName });
}
