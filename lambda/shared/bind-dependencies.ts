import { type Log, logCodes } from './log';

/**
 * Binds a handler to its real dependencies, created once at the first event: importing a handler needs no environment,
 * so tests call the unbound function with their own dependencies. `keepActiveEvent`, which neither the gateway nor a
 * queue can send, is only logged.
 */
export function bindDependencies<Dependencies, Event, Response>(
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
    if (Object(event).keepActive === true && bound.log)
      return void bound.log.info('Kept active', { logCode: logCodes.keptActive });
    return bound.handle(event);
  };
}
