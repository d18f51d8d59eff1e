/**
 * Looks up a stack or environment entered in a workflow: `.ci/find-target.ts stack|environment NAME`. Writes
 * to the step's outputs.
 */
import { stacks, type TableStack } from '../lib/environments';
import { output, step } from './github';

/** @throws Error for a name that is not in the table */
export async function run(kind: string, name: string): Promise<void> {
  const nameOf = ({ stackId, environment }: TableStack) => (kind === 'stack' ? stackId : environment.name);
  // The first stack of an environment is the serving one.
  const found = stacks.find((stack) => nameOf(stack) === name);
  if (!found) {
    const known = [...new Set(stacks.map(nameOf))].join(', ');
    throw new Error(`There is no ${kind} "${name}" in lib/environments.ts. Known: ${known}.`);
  }
  const { environment, stackId, region } = found;
  output({ environment: environment.name, region, serves: String(stackId === environment.stackId) });
}

step(module, run);
