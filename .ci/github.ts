/** Reads from GitHub and writes outputs in a workflow step. */
import { appendFileSync } from 'node:fs';
import { printable } from '../domain/printable';

/** Milliseconds. */
const deadline = 30_000;

/** @throws Error if the runner did not set the variable */
export function variable(name: string): string {
  const value = process.env[name];
  if (value) return value;
  throw new Error(`${name} is not set: run this in a GitHub workflow, with GH_TOKEN.`);
}

/**
 * Reads from the repository of the workflow: https://docs.github.com/en/rest
 *
 * @returns undefined for 404
 * @throws Error for other statuses than 200
 */
export async function find<T>(path: string): Promise<T | undefined> {
  const url = `${variable('GITHUB_API_URL')}/repos/${variable('GITHUB_REPOSITORY')}/${path}`;
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${variable('GH_TOKEN')}`, accept: 'application/vnd.github+json' },
    signal: AbortSignal.timeout(deadline),
  });
  if (response.status === 404) return undefined;
  if (response.status !== 200) throw new Error(`GET ${url} returned ${response.status}.`);
  return (await response.json()) as T;
}

/** As `find`. @throws Error for 404 too */
export async function read<T>(path: string): Promise<T> {
  const found = await find<T>(path);
  if (found === undefined) throw new Error(`GitHub has no ${path}, or the token may not read it.`);
  return found;
}

/** A run of a workflow. */
export interface WorkflowRun {
  readonly id: number;
  readonly status: string;
  readonly conclusion: string | null;
  readonly html_url: string;
  /** The workflow's file, perhaps with `@` and a ref. */
  readonly path: string;
  readonly event: string;
  readonly head_branch: string;
  readonly head_sha: string;
  readonly head_repository: { readonly full_name: string } | null;
}

/** Runs a script's work with the script's arguments, if it was started and not imported; prints one line if it fails. */
export function step(script: NodeJS.Module, work: (...args: string[]) => Promise<void>): void {
  if (require.main !== script) return;
  work(...process.argv.slice(2)).catch((error: Error) => {
    console.error(printable(error.message));
    process.exitCode = 1;
  });
}

/** Sets outputs of the step. */
export function output(values: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(values))
    appendFileSync(variable('GITHUB_OUTPUT'), `${name}=${value}\n`);
}

/** Prints a line and adds it to the run's summary. */
export function summarize(line: string): void {
  console.error(line);
  appendFileSync(variable('GITHUB_STEP_SUMMARY'), `${line}\n\n`);
}
