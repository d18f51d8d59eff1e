import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { projectRoot } from '../architecture/sources';

export interface Workflow {
  /** From the root of the project. */
  readonly path: string;
  readonly text: string;
}

export function readWorkflows(): readonly Workflow[] {
  const folder = '.github/workflows';
  return readdirSync(join(projectRoot, folder)).map((name) => ({
    path: join(folder, name),
    text: readFileSync(join(projectRoot, folder, name), 'utf8'),
  }));
}

/** The commands that a workflow runs. */
export function commandsOf({ text }: Workflow): readonly string[] {
  const jobs = Object.values<{ steps?: readonly { run?: string }[] }>(parse(text).jobs);
  return jobs.flatMap(({ steps = [] }) => steps.flatMap(({ run }) => run?.trim() ?? []));
}
