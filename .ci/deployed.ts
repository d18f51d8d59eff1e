/** Prints the deployed stacks of an environment, a line each, and says which are not: `.ci/deployed.ts ENVIRONMENT`. */
import { allStacks, describeDeployed, openStack } from '../cli/deployed-stack';
import { step, summarize } from './github';

step(async () => {
  for (const stack of allStacks().filter(({ environment }) => environment.name === process.argv[2]))
    if (await describeDeployed(await openStack(stack))) console.log(stack.stackId);
    else summarize(`Skipped ${stack.stackId}: it is not deployed.`);
});
