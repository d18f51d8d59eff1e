/**
 * Writes residency.md, the page about a deployed environment's account, and adds it to the workflow's summary; fails with
 * findings: `.ci/residency.ts ENVIRONMENT`.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { allStacks, findDeployed, openCloudFormation } from '../cli/shell/deployed-stack';
import { step, summarize } from './github';

step(async () => {
  const [, , name = ''] = process.argv;
  const stacks = allStacks().filter(({ environment }) => environment.name === name);
  const deployed = stacks.map(async ({ stackId, region }) =>
    findDeployed(await openCloudFormation(region), stackId),
  );
  // .ci/detect-drift.ts reports what is not deployed.
  if ((await Promise.all(deployed)).every((stack) => stack === undefined)) return;
  const args = ['run', '-s', 'wallet', '--', 'residency', '--environment', name];
  const { status, stdout } = spawnSync('npm', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  writeFileSync('residency.md', stdout);
  summarize(stdout);
  process.exitCode = status ?? 1;
});
