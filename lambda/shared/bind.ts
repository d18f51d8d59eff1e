import { isKeepActive, noteKeptActive } from './keep-active';
import type { Log } from './log';

/**
 * Binds a handler to its real dependencies, made once at the first event: importing a handler needs no environment,
 * so tests call the unbound function with dependencies of their own. An event that only keeps the function active ends here.
 */
export function bind<Dependencies, Event, Response>(
  createHandler: (dependencies: Dependencies) => (event: Event) => Promise<Response>,
  createDependencies: () => Dependencies,
): (event: Event) => Promise<Response | undefined> {
  let bound:
    | { readonly handle: (event: Event) => Promise<Response>; readonly log: Log | undefined }
    | undefined;
  return async (event) => {
    if (bound === undefined) {
      const dependencies = createDependencies();
      bound = { handle: createHandler(dependencies), log: logOf(dependencies) };
    }
    if (bound.log && isKeepActive(event)) return void noteKeptActive(bound.log);
    return bound.handle(event);
  };
}

/** A function outside of any VPC needs no keeping, and may have no log. */
const logOf = (dependencies: unknown): Log | undefined => Object(dependencies).log;
