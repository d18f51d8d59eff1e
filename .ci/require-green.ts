/** Fails unless the complete workflow `check` passed for the commit on main. */
import { read, step, variable, type WorkflowRun } from './github';

/** @throws Error with the reason why the commit is not deployed */
export async function run(): Promise<void> {
  const commit = variable('GITHUB_SHA');
  // Newest first. A repeated run counts once, with its last conclusion.
  const { workflow_runs: runs } = await read<{ workflow_runs: readonly WorkflowRun[] }>(
    `actions/workflows/check.yml/runs?head_sha=${commit}&branch=main&event=push`,
  );
  const [latest] = runs;
  if (!latest)
    throw new Error(`The workflow check has not run for ${commit} on main. Wait for it, then deploy.`);
  const { status, conclusion, html_url: url } = latest;
  if (status !== 'completed') throw new Error(`The workflow check is still running for ${commit}: ${url}`);
  if (conclusion !== 'success')
    throw new Error(`The workflow check ended with ${conclusion} for ${commit}: ${url}`);
  console.log(`The workflow check passed for ${commit}: ${url}`);
}

step(module, run);
