/**
 * Finds the last assembly of a stack that was deployed and passed smoke: `.ci/find-last-good.ts STACK`. GitHub keeps it for
 * 90 days, as an artifact of that run of the workflow `deploy`. Writes the run's id to the step's outputs.
 */
import { output, read, step, summarize, variable, type WorkflowRun } from './github';

interface Artifact {
  readonly expired: boolean;
  readonly created_at: string;
  readonly workflow_run: { readonly id: number } | null;
}

/** Any workflow can use this artifact name, even one from a fork's pull request. */
const isDeployment = (run: WorkflowRun): boolean =>
  run.path.split('@')[0] === '.github/workflows/deploy.yml' &&
  run.event === 'workflow_dispatch' &&
  run.head_branch === 'main' &&
  run.head_repository?.full_name === variable('GITHUB_REPOSITORY');

export async function run(stack: string): Promise<void> {
  const { artifacts } = await read<{ artifacts: readonly Artifact[] }>(
    `actions/artifacts?name=deployed-${stack}&per_page=100`,
  );
  const newestFirst = artifacts
    .filter(({ expired }) => !expired)
    .toSorted((a, b) => b.created_at.localeCompare(a.created_at));
  for (const { workflow_run: source, created_at: date } of newestFirst) {
    if (source === null) continue;
    const run = await read<WorkflowRun>(`actions/runs/${source.id}`);
    if (!isDeployment(run)) continue;
    output({ run: String(run.id) });
    return summarize(
      `If smoke fails, this run rolls back to the assembly of ${date} if possible: commit ${run.head_sha}, ${run.html_url}`,
    );
  }
  summarize(`No earlier assembly of ${stack} passed smoke. If smoke fails, the new one stays deployed.`);
}

step(module, run);
