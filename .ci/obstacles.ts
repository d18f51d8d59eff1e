/**
 * Prints what stands against taking a stack back to the last good assembly, a line each, and then fails:
 * `.ci/obstacles.ts DEPLOYED LAST-GOOD BEFORE STACK`, two assemblies and the template that the deployment replaced.
 */
import { existsSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { mangleLikeCloudFormation } from '@aws-cdk/cloudformation-diff';
import { finalMigrations, lossesOf, readStacks, type Stack } from './stacks';

const [deployed = '', lastGood = '', before = '', name = ''] = process.argv.slice(2);
const [now, then] = [deployed, lastGood].map((assembly) => readStacks(assembly)[name]);
if (!now || !then) throw new Error(`${now ? lastGood : deployed} has no stack ${name}.`);

const obstacles = [
  ...(ranBefore(then) ? [] : ['Something else ran before this release.']),
  ...lossesOf(now, then),
  ...finalMigrations(then, now),
  ...olderEngines(then, now),
];
for (const obstacle of obstacles) console.log(`- ${obstacle}`);
if (obstacles.length > 0) process.exitCode = 1;

/** CloudFormation gives a template back with `?` for each character outside of ASCII. */
function ranBefore({ template }: Stack): boolean {
  return (
    existsSync(before) &&
    isDeepStrictEqual(
      JSON.parse(readFileSync(before, 'utf8')),
      JSON.parse(mangleLikeCloudFormation(JSON.stringify(template))),
    )
  );
}

/** RDS refuses to go down: https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_ModifyDBCluster.html */
function olderEngines({ template: { Resources: older } }: Stack, { template }: Stack): readonly string[] {
  return Object.keys(template.Resources).flatMap((id) => {
    const [was, is] = [older, template.Resources].map((all) => all[id]?.Properties?.EngineVersion);
    return typeof was === 'string' && typeof is === 'string' && newer(is, was)
      ? [`\`${id}\` has version ${is} of its engine, and cannot go back to ${was}.`]
      : [];
  });
}

function newer(version: string, other: string): boolean {
  return version.localeCompare(other, 'en', { numeric: true }) > 0;
}
