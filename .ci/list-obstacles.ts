/**
 * Prints why a stack cannot be rolled back to the last good assembly, one reason per line, and exits with 3 if there are any, with 1
 * if it could not check: `.ci/list-obstacles.ts DEPLOYED LAST-GOOD BEFORE STACK`, two assemblies and the template that the
 * deployment replaced.
 */
import { existsSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { readAssembledStack } from '../cli/deployments/assembly';
import { lossesOf, mangle, type Stack } from '../cli/deployments/losses';
import { parameterNames } from '../cli/origin/read-origin';
import { openCloudFormation, requireDeployed } from '../cli/shell/deployed-stack';
import type { Template, TemplateResource } from '../domain/assembly';
import { stackNamed } from '../lib/environments';
import { step } from './github';

/**
 * @param before the template before the deployment, as CloudFormation returns it; undefined without a stack
 * @param usesReserve whether webhooks come from the reserve address
 */
export function obstaclesTo(
  lastGood: Stack,
  deployed: Stack,
  before: unknown,
  usesReserve = false,
): readonly string[] {
  return [
    ...(isDeepStrictEqual(before, mangle(lastGood.template))
      ? []
      : ['Before this release, the stack did not have the last good template.']),
    ...lossesOf(usesReserve ? deployed : withoutNewReserve(deployed, lastGood), lastGood),
    ...olderEngines(lastGood.template, deployed.template),
  ];
}

/** RDS rejects downgrades: https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_ModifyDBCluster.html */
function olderEngines({ Resources: older }: Template, { Resources: newer }: Template): readonly string[] {
  return Object.entries(newer).flatMap(([id, { Properties }]) => {
    const [is, was] = [Properties?.EngineVersion, older[id]?.Properties?.EngineVersion];
    if (typeof is !== 'string' || typeof was !== 'string') return [];
    return is.localeCompare(was, 'en', { numeric: true }) > 0
      ? [`\`${id}\` has engine version ${is} and cannot be downgraded to ${was}.`]
      : [];
  });
}

/** Leaves out reserve addresses that the last good template lacks: they are retained, and webhooks do not come from them. */
function withoutNewReserve(deployed: Stack, lastGood: Stack): Stack {
  const isNew = (id: string, { Type, DeletionPolicy }: TemplateResource) =>
    Type === 'AWS::EC2::EIP' && DeletionPolicy === 'Retain' && !(id in lastGood.template.Resources);
  const kept = Object.entries(deployed.template.Resources).filter((entry) => !isNew(...entry));
  return { ...deployed, template: { ...deployed.template, Resources: Object.fromEntries(kept) } };
}

/** Whether webhooks come from the stack's reserve address: `move-origin --reserve`, in an emergency. */
async function usesReserve(name: string): Promise<boolean> {
  const { region = '' } = stackNamed(name) ?? {};
  const { Parameters = [] } = await requireDeployed(await openCloudFormation(region), name);
  return Parameters.some(
    ({ ParameterKey, ParameterValue }) => ParameterKey === parameterNames.reserve && ParameterValue === 'yes',
  );
}

export async function run(assembly: string, lastGood: string, before: string, name: string): Promise<void> {
  const [now, then] = [readAssembledStack(assembly, name), readAssembledStack(lastGood, name)];
  const replaced = existsSync(before) ? JSON.parse(readFileSync(before, 'utf8')) : undefined;
  for (const obstacle of obstaclesTo(then, now, replaced, await usesReserve(name))) {
    console.log(`- ${obstacle}`);
    process.exitCode = 3;
  }
}

step(module, run);
