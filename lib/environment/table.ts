import { validateEnvironments } from './rules';
import { type Environment, inForce, stacksOf, type TableStack } from './schema';

/**
 * A table of environments, as `lib/environments.ts` exports it.
 *
 * @throws InvalidEnvironment with every wrong field
 */
export function tableOf(rows: unknown) {
  /** As everything reads them. */
  const environments = validateEnvironments(rows).map(inForce);
  /** Every stack of the table, in order. */
  const stacks: readonly TableStack[] = environments.flatMap(stacksOf);
  return {
    environments,
    environmentNamed: (name: string): Environment | undefined =>
      environments.find((row) => row.name === name),
    stacks,
    stackNamed: (stackId: string): TableStack | undefined =>
      stacks.find((stack) => stack.stackId === stackId),
  };
}
