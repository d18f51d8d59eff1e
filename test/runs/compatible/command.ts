import { Command } from 'commander';
import { longRun, projectRoot } from '../long-run';
import { openBase, usualBase } from './base';
import { runCompatibility } from './run';

const command = new Command('npm run compatible --')
  .description(
    'Deploys the base, this change, and the base again to local environments, on the same data: can the change be rolled back?',
  )
  .option(
    '--base <ref or folder>',
    'a commit, or a checkout with node_modules (default: the merge base with origin/main, or the first parent on main itself)',
  );

void longRun<{ base?: string }>(command, async ({ base = usualBase() }, harness) => {
  const directory = await openBase(base, harness);
  const { migrations, checks } = await runCompatibility({ ...harness, base: directory, change: projectRoot });
  const lines = migrations.map(({ name, irreversible }) =>
    irreversible === undefined ? `${name} is new` : `${name} IS IRREVERSIBLE: ${irreversible}`,
  );
  return { report: [...lines, checks.format()].join('\n'), failed: checks.violations.length > 0 };
});
