import { cpus, loadavg, release, type } from 'node:os';
import { Argument, Command } from 'commander';
import { number } from '../../../cli/shell/options';
import { columns } from '../../../cli/shell/terminal';
import { longRun, temporaryFolder } from '../long-run';
import { measureBurst } from './burst';
import { measureDeletion } from './delete';
import { measureDelivery } from './deliver';
import { type Figure, judge, missed, type PartOptions } from './measure';
import { measurePurge } from './purge';

const parts: Readonly<Record<string, (options: PartOptions) => Promise<readonly Figure[]>>> = {
  delete: measureDeletion,
  deliver: measureDelivery,
  purge: measurePurge,
  burst: measureBurst,
};
const names = Object.keys(parts);

const command = new Command('npm run bench --')
  .description('Measures the product, in ratios within this run. Exits with 1 if one misses its goal.')
  .addArgument(new Argument('[parts...]', 'parts to run').choices(names).default(names))
  .option('--effort <percent>', 'of the usual samples; below 100 it judges nothing', number(1, 100), 100);

void longRun<{ effort: number }>(command, async (options, harness) => {
  const effort = options.effort / 100;
  const rows: string[][] = [];
  const [chosen] = command.processedArgs;
  for (const part of chosen as string[]) {
    harness.progress(`${part}: started, load ${loadavg()[0]?.toFixed(1)}`);
    const directory = await temporaryFolder(harness.cleanup);
    const figures = (await parts[part]?.({ ...harness, effort, directory })) ?? [];
    rows.push(...figures.map((figure) => judge(part, figure, effort)));
    await harness.cleanup.run();
  }
  const machine = `${cpus().length} × ${cpus()[0]?.model}, ${type()} ${release()}, Node.js ${process.version}`;
  const head = ['PART', 'WHAT', 'MEDIAN', 'AGAINST', 'IS', 'N', 'RATIO', 'GOAL'];
  return {
    report: [machine, '', ...columns([head, ...rows])].join('\n'),
    failed: rows.some((row) => row.at(-1)?.endsWith(missed)),
  };
});
