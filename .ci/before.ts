/**
 * Keeps the template that a stack has before a deployment, in plan/before.json: `.ci/before.ts STACK`. A stack that is not
 * there has none.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { callAws } from '../cli/aws';
import { allStacks, describeDeployed, openStack } from '../cli/deployed-stack';
import { step } from './github';

step(async () => {
  const stack = allStacks().find(({ stackId }) => stackId === process.argv[2]);
  if (!stack) throw new Error(`There is no stack "${process.argv[2]}" in lib/environments.ts.`);
  const api = await openStack(stack);
  if (!(await describeDeployed(api))) return;
  const { GetTemplateCommand } = await import('@aws-sdk/client-cloudformation');
  const { TemplateBody = '' } = await callAws(api, 'cloudformation:GetTemplate', (options) =>
    api.cloudFormation.send(new GetTemplateCommand({ StackName: api.stackId }), options),
  );
  mkdirSync('plan', { recursive: true });
  writeFileSync('plan/before.json', TemplateBody);
});
