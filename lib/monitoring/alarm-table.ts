import type { AlarmRow } from './alarms';
import { apiAlarms, functionAlarms } from './api-alarms';
import type { BackupEvents } from './backup-events';
import { backupAlarms, databaseAlarms } from './database-alarms';
import type { LogMetrics } from './log-metrics';
import type { Watched } from './watched';
import { originAlarms, proofAlarms, webhookAlarms } from './webhook-alarms';

/** Every alarm of a region that serves: what docs/runbook.md has a line for. */
export const alarmTable = (
  watched: Watched,
  logMetrics: LogMetrics,
  backupEvents: BackupEvents,
): readonly AlarmRow[] => [
  ...proofAlarms(watched),
  ...apiAlarms(watched, logMetrics),
  ...functionAlarms(watched),
  ...databaseAlarms(watched, logMetrics),
  ...backupAlarms(watched, backupEvents),
  ...webhookAlarms(watched, logMetrics),
  ...originAlarms(watched),
];
