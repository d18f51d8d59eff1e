/** Fails unless the complete workflow `check` passed for the commit on main. */
import { read, step, variable, type WorkflowRun } from './github';

/**
 * Reports a commit whose check passed.
 *
 * @param runs of the workflow for the commit, newest first; a repeated run counts once, with its last conclusion
 * @throws Error with the reason why it is not deployed
 */
export function requireGreen(commit: string, [latest]: readonly WorkflowRun[]): string {
  if (!latest)
    throw new Error(`The workflow check has not run for ${commit} on main. Wait for it, then deploy.`);
  const { status, conclusion, html_url: url } = latest;
  if (status !== 'completed') throw new Error(`The workflow check is still running for ${commit}: ${url}`);
  if (conclusion !== 'success')
    throw new Error(`The workflow check ended with ${conclusion} for ${commit}: ${url}`);
  return `The workflow check passed for ${commit}: ${url}`;
}

export async function run(): Promise<void> {
  const commit = variable('GITHUB_SHA');
  const { workflow_runs: runs } = await read<{ workflow_runs: readonly WorkflowRun[] }>(
    `actions/workflows/check.yml/runs?head_sha=${commit}&branch=main&event=push`,
  );
  console.log(requireGreen(commit, runs));
}

step(module, run);
