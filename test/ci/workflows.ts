import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, LineCounter, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml';
import { projectRoot } from '../architecture/sources';

export interface Workflow {
  /** From the root of the project. */
  readonly path: string;
  readonly text: string;
}

export interface RunStep {
  /** Such as `.github/workflows/check.yml:38`. */
  readonly place: string;
  readonly command: string;
  readonly environment: Readonly<Record<string, string>>;
}

export function readWorkflows(): readonly Workflow[] {
  const folder = '.github/workflows';
  return readdirSync(join(projectRoot, folder)).map((name) => ({
    path: join(folder, name),
    text: readFileSync(join(projectRoot, folder, name), 'utf8'),
  }));
}

/** The steps of a workflow that run a command. */
export function runSteps({ path, text }: Workflow): readonly RunStep[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const jobs = document.get('jobs') as YAMLMap<unknown, YAMLMap>;
  return jobs.items.flatMap(({ value: job }) => {
    const steps = job?.get('steps') as YAMLSeq | undefined;
    return (steps?.items ?? []).filter(isMap).flatMap((step) => {
      const { run, env = {} } = step.toJS(document);
      const place = `${path}:${lines.linePos(step.range?.[0] ?? 0).line}`;
      return run === undefined ? [] : [{ place, command: run.trim(), environment: env }];
    });
  });
}
