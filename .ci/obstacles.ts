/**
 * Prints what stands against taking a stack back to the last good assembly, a line each, and then fails:
 * `.ci/obstacles.ts DEPLOYED LAST-GOOD BEFORE STACK`, two assemblies and the template that the deployment replaced.
 */
import { existsSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { fullDiff, mangleLikeCloudFormation } from '@aws-cdk/cloudformation-diff';
import { readStacks } from '../test/diff/assembly';
import { lossesOf } from '../test/diff/losses';

// biome-ignore lint/suspicious/noExplicitAny: a template's JSON is as free as this
type Json = any;

const [deployed = '', lastGood = '', before = '', name = ''] = process.argv.slice(2);
const [now, then] = [deployed, lastGood].map((assembly) => readStacks(assembly)[name]);
if (!now || !then) throw new Error(`${now ? lastGood : deployed} has no stack ${name}.`);

const obstacles = [
  ...(ranBefore(then.template) ? [] : ['Something else ran before this release.']),
  ...lossesOf(now, then, fullDiff(now.template, then.template)),
  ...finalMigrations(),
  ...olderEngines(),
];
for (const obstacle of obstacles) console.log(`- ${obstacle}`);
if (obstacles.length > 0) process.exitCode = 1;

/** CloudFormation gives a template back with `?` for each character outside of ASCII. */
function ranBefore(template: Json): boolean {
  if (!existsSync(before)) return false;
  const ran = JSON.parse(readFileSync(before, 'utf8'));
  return isDeepStrictEqual(ran, JSON.parse(mangleLikeCloudFormation(JSON.stringify(template))));
}

/** Migrations that the release brought, and that the release before cannot live with. */
function finalMigrations(): string[] {
  const [added, known] = [now, then].map((stack) => {
    const resources = Object.values<Json>(stack?.template.Resources ?? {});
    return Object.assign({}, ...resources.map(({ Metadata }) => Metadata?.CannotBeTakenBack));
  });
  return Object.entries(added)
    .filter(([migration]) => !(migration in known))
    .map(([migration, reason]) => `Migration \`${migration}\` cannot be taken back: ${reason}`);
}

/** RDS refuses to go down: https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_ModifyDBCluster.html */
function olderEngines(): string[] {
  return Object.entries<Json>(now?.template.Resources ?? {}).flatMap(([id, { Properties }]) => {
    const [is, was] = [Properties, then?.template.Resources[id]?.Properties].map(
      (properties) => properties?.EngineVersion,
    );
    if (typeof is !== 'string' || typeof was !== 'string') return [];
    return is.localeCompare(was, 'en', { numeric: true }) > 0
      ? [`\`${id}\` has version ${is} of its engine, and cannot go back to ${was}.`]
      : [];
  });
}
