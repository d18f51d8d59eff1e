import { InvalidArgumentError } from 'commander';
import { Cleanup } from '../../../local/cleanup';
import { longRun, projectRoot } from '../long-run';
import { type Base, openBase, readBase, usualBase } from './base';
import { runCompatibility } from './run';

void longRun<{ readonly base?: Base }>({
  name: 'compatible',
  description:
    'Deploys the base, this change, and the base again to local environments, on the same data: can the change be rolled back?',
  declare: (command) =>
    command.option(
      '--base <ref or folder>',
      'a commit, or a checkout with node_modules (default: the merge base with origin/main, or the first parent on main itself)',
      (text) => {
        try {
          return readBase(text);
        } catch (error) {
          throw new InvalidArgumentError((error as Error).message);
        }
      },
    ),
  async run({ base = usualBase() }, harness) {
    if (!base)
      return { report: 'This is the first commit: there is nothing to roll back to.', failed: false };
    const cleanup = new Cleanup();
    try {
      const directory = await openBase(base, cleanup, harness.progress);
      const { migrations, checks } = await runCompatibility(cleanup, {
        ...{ base: directory, change: projectRoot },
        ...harness,
      });
      const reasons = migrations.flatMap(({ name, irreversible }) =>
        irreversible ? [`${name} IS IRREVERSIBLE: ${irreversible}`] : [`${name} is new`],
      );
      return { report: [...reasons, checks.format()].join('\n'), failed: checks.violations.length > 0 };
    } finally {
      await cleanup.run();
    }
  },
});
