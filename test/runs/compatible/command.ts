import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { type Harness, longRun, projectRoot, temporaryFolder } from '../long-run';
import { runCompatibility } from './run';

const command = new Command('npm run compatible --')
  .description(
    'Deploys the base, this change, and the base again to local environments, on the same data: can the change be rolled back?',
  )
  .option(
    '--base <commit>',
    'what to compare with (default: the merge base with origin/main, or the first parent on main itself)',
  );

void longRun<{ base?: string }>(command, async ({ base = usualBase() }, harness) => {
  const directory = await openBase(base, harness);
  const migrations = await runCompatibility({ ...harness, base: directory, change: projectRoot });
  const lines = migrations.map((name) => `${name} is new`);
  return { report: [...lines, 'Every release passed its smoke test.'].join('\n'), failed: false };
});

/** The output; empty for a failure. */
function git(...args: string[]): string {
  return spawnSync('git', args, { cwd: projectRoot, encoding: 'utf8' }).stdout.trim();
}

function usualBase(): string {
  const fork = git('merge-base', 'HEAD', 'origin/main');
  return fork === '' || fork === git('rev-parse', 'HEAD') ? 'HEAD^1' : fork;
}

/** A folder with the commit and its packages. */
async function openBase(base: string, { cleanup, progress }: Harness): Promise<string> {
  const commit = git('rev-parse', '--verify', '--end-of-options', `${base}^{commit}`);
  if (commit === '') throw new Error(`git has no commit "${base}". Fetch it, or give another by --base.`);
  const directory = await temporaryFolder(cleanup);
  progress(`Base: ${git('log', '-1', '--format=%h %s', commit)}`);
  const archive = execFileSync('git', ['archive', commit], { cwd: projectRoot, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', directory], { input: archive });
  const [theirs, ours] = [directory, projectRoot].map((each) =>
    readFileSync(join(each, 'package-lock.json'), 'utf8'),
  );
  if (theirs === ours) {
    symlinkSync(join(projectRoot, 'node_modules'), join(directory, 'node_modules'));
  } else {
    progress('Its packages differ: npm ci');
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: directory, stdio: 'ignore' });
  }
  return directory;
}
