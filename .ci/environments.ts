/**
 * Lists, for a matrix, the table's environments that exist in GitHub: GitHub creates a missing environment of a job, without
 * protection.
 */
import { environments } from '../lib/environments';
import { find, output, step, summarize } from './github';

step(async () => {
  const listed = [];
  for (const { name, region } of environments) {
    // https://docs.github.com/en/rest/deployments/environments#get-an-environment
    if (await find(`environments/${name}-read`)) listed.push({ environment: name, region });
    else summarize(`Skipped ${name}: the repository has no GitHub environment ${name}-read.`);
  }
  output({ environments: JSON.stringify(listed) });
});
