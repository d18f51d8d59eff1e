/**
 * Prints why a stack cannot be rolled back to the last good assembly, one reason per line, and fails if there are any:
 * `.ci/list-obstacles.ts DEPLOYED LAST-GOOD BEFORE STACK`, two assemblies and the template that the deployment replaced.
 */
import { existsSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { mangleLikeCloudFormation } from '@aws-cdk/cloudformation-diff';
import { finalMigrations, lossesOf, readStacks, type Stack } from './stacks';

/** @param before the template before the deployment, as CloudFormation returns it; undefined without a stack */
export function obstaclesTo(lastGood: Stack, deployed: Stack, before: unknown): readonly string[] {
  // GetTemplate returns non-ASCII characters as `?`: https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/814
  const template = JSON.parse(mangleLikeCloudFormation(JSON.stringify(lastGood.template)));
  return [
    ...(isDeepStrictEqual(before, template)
      ? []
      : ['Before this release, the stack did not have the last good template.']),
    ...lossesOf(deployed, lastGood),
    ...finalMigrations(lastGood, deployed),
    ...olderEngines(lastGood.template.Resources, deployed.template.Resources),
  ];
}

type Resources = Readonly<Record<string, { readonly Properties?: { readonly EngineVersion?: unknown } }>>;

/** RDS rejects downgrades: https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_ModifyDBCluster.html */
function olderEngines(older: Resources, newer: Resources): readonly string[] {
  return Object.entries(newer).flatMap(([id, { Properties }]) => {
    const [is, was] = [Properties?.EngineVersion, older[id]?.Properties?.EngineVersion];
    if (typeof is !== 'string' || typeof was !== 'string') return [];
    return is.localeCompare(was, 'en', { numeric: true }) > 0
      ? [`\`${id}\` has engine version ${is} and cannot be downgraded to ${was}.`]
      : [];
  });
}

if (require.main === module) {
  const [assembly = '', lastGood = '', before = '', name = ''] = process.argv.slice(2);
  const [now, then] = [assembly, lastGood].map((each) => readStacks(each)[name]);
  if (!now || !then) throw new Error(`${now ? lastGood : assembly} has no stack ${name}.`);
  const replaced = existsSync(before) ? JSON.parse(readFileSync(before, 'utf8')) : undefined;
  for (const obstacle of obstaclesTo(then, now, replaced)) {
    console.log(`- ${obstacle}`);
    process.exitCode = 1;
  }
}
