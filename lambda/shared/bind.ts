/**
 * Binds a handler to its real dependencies, made once at the first event: importing a handler needs no environment,
 * so tests call the unbound function with dependencies of their own.
 */
export function bind<Dependencies, Event, Answer>(
  createHandler: (dependencies: Dependencies) => (event: Event) => Promise<Answer>,
  createDependencies: () => Dependencies,
): (event: Event) => Promise<Answer> {
  let handler: ((event: Event) => Promise<Answer>) | undefined;
  return async (event) => {
    handler ??= createHandler(createDependencies());
    return handler(event);
  };
}
