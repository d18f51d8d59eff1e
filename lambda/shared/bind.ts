import { type Log, logCodes } from './log';

/**
 * Binds a handler to its real dependencies, created once at the first event: importing a handler needs no environment,
 * so tests call the unbound function with their own dependencies. `keepActiveEvent`, which neither the gateway nor a
 * queue can send, is only counted.
 */
export function bind<Dependencies, Event, Response>(
  createHandler: (dependencies: Dependencies) => (event: Event) => Promise<Response>,
  createDependencies: () => Dependencies,
): (event: Event) => Promise<Response | undefined> {
  let bound: { handle(event: Event): Promise<Response>; readonly log?: Log } | undefined;
  return async (event) => {
    if (bound === undefined) {
      const dependencies = createDependencies();
      // A function outside of a VPC may have no log.
      bound = { handle: createHandler(dependencies), log: Object(dependencies).log };
    }
    if (Object(event).keepActive === true && bound.log) return void countKeepActive(bound.log);
    return bound.handle(event);
  };
}

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html */
function countKeepActive(log: Log): void {
  const metric = {
    Namespace: 'WalletFunctions',
    Dimensions: [['service']],
    Metrics: [{ Name: 'KeptActive', Unit: 'Count' }],
  };
  const _aws = { Timestamp: Date.now(), CloudWatchMetrics: [metric] };
  log.info('Kept active', { logCode: logCodes.keptActive, KeptActive: 1, _aws });
}
