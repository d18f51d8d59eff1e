/**
 * Writes residency.md, the page about a deployed environment's account, and adds it to the workflow's summary; fails with
 * findings: `.ci/residency.ts ENVIRONMENT`.
 */
import { writeFileSync } from 'node:fs';
import { runCommandLine } from '../cli/command-line';
import { findDeployed, openCloudFormation } from '../cli/shell/deployed-stack';
import { createTerminal } from '../cli/shell/terminal';
import { stacks } from '../lib/environments';
import { step, summarize } from './github';

export async function run(name: string): Promise<void> {
  const own = stacks.filter(({ environment }) => environment.name === name);
  const deployed = own.map(async ({ stackId, region }) =>
    findDeployed(await openCloudFormation(region), stackId),
  );
  // .ci/detect-drift.ts reports what is not deployed.
  if ((await Promise.all(deployed)).every((stack) => stack === undefined)) return;
  let page = '';
  const keep = {
    write(text: string) {
      page += text;
    },
  };
  const terminal = createTerminal(keep, process.stderr);
  process.exitCode = await runCommandLine(['residency', '--environment', name], terminal);
  writeFileSync('residency.md', page);
  summarize(page);
}

step(module, run);
