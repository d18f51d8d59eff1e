import { type Log, logCodes } from './log';

/** Dependencies are created at the first event: tests call the unbound one. No gateway or queue can send `keepActiveEvent`. */
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
