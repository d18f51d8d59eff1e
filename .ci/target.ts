/**
 * What the workflows know of the table: `.ci/target.ts NAME` for a stack or an environment, without a name the list of
 * environments. Writes to the step's outputs, and to stdout.
 */
import { appendFileSync } from 'node:fs';
import { DefaultStackSynthesizer } from 'aws-cdk-lib';
import { allStacks } from '../cli/deployment/deployed-stack';
import { roleName } from '../domain/workflow-roles';
import { environments } from '../lib/environments';

function outputsOf(name: string | undefined): Readonly<Record<string, string>> {
  if (name === undefined) return { environments: JSON.stringify(environments.map((each) => each.name)) };
  const stacks = allStacks();
  // An environment stands for the stack that serves.
  const found = stacks.find(({ stackId, environment }) => [stackId, environment.name].includes(name));
  if (!found) {
    const known = stacks.map(({ stackId }) => stackId).join(', ');
    throw new Error(`There is no stack or environment "${name}" in lib/environments.ts. Stacks: ${known}.`);
  }
  const { environment, stackId, region } = found;
  return {
    stack: stackId,
    environment: environment.name,
    region,
    serves: String(stackId === environment.stackId),
    'deploy-role': roleName('deploy', environment.name),
    'read-role': roleName('read', environment.name),
    'operate-role': roleName('operate', environment.name),
    // The account and the region follow.
    'lookup-role': `cdk-${DefaultStackSynthesizer.DEFAULT_QUALIFIER}-lookup-role`,
  };
}

try {
  const outputs = Object.entries(outputsOf(process.argv[2])).map(([name, value]) => `${name}=${value}\n`);
  process.stdout.write(outputs.join(''));
  if (process.env.GITHUB_OUTPUT) appendFileSync(process.env.GITHUB_OUTPUT, outputs.join(''));
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
