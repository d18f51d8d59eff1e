import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Side } from './report';
import { run } from './run';

export interface Steps {
  readonly signal: AbortSignal;
  /** Tells what begins. */
  progress(line: string): void;
}

/** What the user can mend: a wrong reference, above all. */
export class WrongUse extends Error {}

/**
 * Synthesizes the commit at which `reference` and the present commit parted, and the working folder as it is, with all
 * that is not committed. What it needs for that is gone when `use` has ended, or was interrupted.
 *
 * @throws WrongUse when the reference is no commit, or has none in common with this one
 */
export async function withBothSides<Result>(
  reference: string,
  { signal, progress }: Steps,
  use: (base: Side, change: Side) => Result,
): Promise<Result> {
  const git: Git = (...args) => run('.', ['git', ...args], signal);
  const project = (
    await git('rev-parse', '--show-toplevel').catch(explain('This is no git repository.'))
  ).trim();
  const commit = await commonCommit(reference, git);

  const folder = await mkdtemp(join(tmpdir(), 'wallet-diff-'));
  const base: Side = { sources: join(folder, 'base'), assembly: join(folder, 'base.out') };
  const change: Side = { sources: project, assembly: join(folder, 'change.out') };
  const synthesize = ({ sources, assembly }: Side) =>
    run(
      sources,
      ['npx', '--no-install', 'cdk', 'synth', '--quiet', '--no-validation', '--output', assembly],
      signal,
    );
  try {
    await git('worktree', 'add', '--quiet', '--detach', base.sources, commit);
    progress(`Installing the packages of ${commit.slice(0, 12)}`);
    // Its own, and no link to these: bundles name their modules by paths, and all of them would seem to change.
    await run(base.sources, ['npm', 'ci', '--ignore-scripts', '--prefer-offline', '--no-audit'], signal);
    progress(`Synthesizing ${commit.slice(0, 12)}`);
    await synthesize(base);
    progress('Synthesizing the working folder');
    await synthesize(change);
    return use(base, change);
  } finally {
    await rm(folder, { recursive: true, force: true });
    // The list of worktrees is told that the folder is gone, also after an interruption.
    await run(project, ['git', 'worktree', 'prune'], new AbortController().signal);
  }
}

type Git = (...args: string[]) => Promise<string>;

async function commonCommit(reference: string, git: Git): Promise<string> {
  const commit = await git(
    'rev-parse',
    '--verify',
    '--quiet',
    '--end-of-options',
    `${reference}^{commit}`,
  ).catch(
    explain(
      `${reference} is no commit of this repository. Name a branch, a tag or a commit: git branch --all. ` +
        'One that only the remote has is fetched by: git fetch origin',
    ),
  );
  const common = await git('merge-base', commit.trim(), 'HEAD').catch(
    explain(
      `${reference} and HEAD have no commit in common. If this clone is shallow: git fetch --unshallow`,
    ),
  );
  return common.trim();
}

function explain(message: string): (error: Error) => never {
  return (error) => {
    if (error.name === 'AbortError') throw error;
    throw new WrongUse(message);
  };
}
