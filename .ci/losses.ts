/**
 * Fails when a stack would lose what holds state by a deployment of another assembly, and prints what:
 * `.ci/losses.ts DEPLOYED OTHER STACK`.
 */
import { fullDiff } from '@aws-cdk/cloudformation-diff';
import { readStacks } from '../test/diff/assembly';
import { lossesOf } from '../test/diff/losses';

const [deployed = '', other = '', name = ''] = process.argv.slice(2);
const [now, then] = [deployed, other].map((assembly) => readStacks(assembly)[name]);
if (!now || !then) throw new Error(`${now ? other : deployed} has no stack ${name}.`);
for (const loss of lossesOf(now, then, fullDiff(now.template, then.template))) {
  console.log(`- ${loss}`);
  process.exitCode = 1;
}
