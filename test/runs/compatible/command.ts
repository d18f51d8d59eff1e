import { InvalidArgumentError } from 'commander';
import { Cleanup } from '../../../local/cleanup';
import { formatChecks, isBroken } from '../harness/checks';
import { longRun } from '../harness/command';
import { projectRoot } from '../world/project';
import { type Base, openBase, readBase, usualBase } from './base';
import { runCompatibility } from './run';

const tests = ['test/end-to-end/access.test.ts', 'test/end-to-end/webhooks.test.ts'];

void longRun<{ readonly base?: Base }>({
  name: 'compatible',
  description:
    'Deploys the base, this change, and the base again to local environments, on the same data: can the change be taken back?',
  declare: (command) =>
    command.option(
      '--base <ref or folder>',
      'a commit, or a checkout with node_modules (default: where this left origin/main; there, its first parent)',
      (text) => {
        try {
          return readBase(text);
        } catch (error) {
          throw new InvalidArgumentError((error as Error).message);
        }
      },
    ),
  async run({ base = usualBase() }, harness) {
    if (!base) return { report: 'This is the first commit: there is nothing to go back to.', failed: false };
    const cleanup = new Cleanup();
    try {
      const directory = await openBase(base, cleanup, harness.progress);
      const { migrations, checks } = await runCompatibility(cleanup, {
        ...{ base: directory, change: projectRoot, tests, harness },
      });
      const reasons = migrations.flatMap(({ name, cannotBeTakenBack }) =>
        cannotBeTakenBack ? [`${name} CANNOT BE TAKEN BACK: ${cannotBeTakenBack}`] : [`${name} is new`],
      );
      return { report: [...reasons, ...formatChecks(checks)].join('\n'), failed: checks.some(isBroken) };
    } finally {
      await cleanup.run();
    }
  },
});
