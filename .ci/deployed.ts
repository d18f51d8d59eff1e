/** Prints an environment's deployed stacks, one per line, and reports the others as skipped: `.ci/deployed.ts ENVIRONMENT`. */
import { allStacks, findDeployed, openCloudFormation } from '../cli/shell/deployed-stack';
import { step, summarize } from './github';

step(async () => {
  for (const { stackId, region } of allStacks().filter(
    ({ environment }) => environment.name === process.argv[2],
  ))
    if (await findDeployed(await openCloudFormation(region), stackId)) console.log(stackId);
    else summarize(`Skipped ${stackId}: it is not deployed.`);
});
