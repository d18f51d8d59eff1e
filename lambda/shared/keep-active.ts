import { type Log, logCodes } from './log';

/** Whether an event is `keepActiveEvent`: neither the gateway nor a queue can send one. */
export const isKeepActive = (event: unknown): boolean => Object(event).keepActive === true;

/**
 * Logs that the function was kept active, in CloudWatch's embedded metric format: the line counts `KeptActive`.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function noteKeptActive(log: Log, now = Date.now()): void {
  log.info('Kept active', {
    logCode: logCodes.keptActive,
    KeptActive: 1,
    _aws: {
      Timestamp: now,
      CloudWatchMetrics: [
        {
          Namespace: 'WalletFunctions',
          Dimensions: [['service']],
          Metrics: [{ Name: 'KeptActive', Unit: 'Count' }],
        },
      ],
    },
  });
}
