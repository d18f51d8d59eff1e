/**
 * Binds a handler to its real dependencies, made once at the first event: importing a handler needs no environment,
 * so tests call the unbound function with dependencies of their own.
 */
export function bind<Dependencies, Event, Response>(
  createHandler: (dependencies: Dependencies) => (event: Event) => Promise<Response>,
  createDependencies: () => Dependencies,
): (event: Event) => Promise<Response> {
  let handler: ((event: Event) => Promise<Response>) | undefined;
  return async (event) => {
    handler ??= createHandler(createDependencies());
    return handler(event);
  };
}
