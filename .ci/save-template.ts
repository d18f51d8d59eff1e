/**
 * Saves a stack's template before a deployment to plan/before.json, if the stack exists: `.ci/save-template.ts STACK`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { callAws } from '../cli/shell/aws';
import { findDeployed, openCloudFormation } from '../cli/shell/deployed-stack';
import { stackNamed } from '../lib/environments';
import { step } from './github';

export async function run(name: string): Promise<void> {
  const stack = stackNamed(name);
  if (!stack) throw new Error(`There is no stack "${name}" in lib/environments.ts.`);
  const { stackId: StackName, region } = stack;
  const cloudFormation = await openCloudFormation(region);
  if (!(await findDeployed(cloudFormation, StackName))) return;
  const { TemplateBody = '' } = await callAws(cloudFormation, 'getTemplate', { StackName });
  mkdirSync('plan', { recursive: true });
  writeFileSync('plan/before.json', TemplateBody);
}

step(module, run);
