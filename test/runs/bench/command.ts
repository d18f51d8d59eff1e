import { cpus, loadavg, release, type } from 'node:os';
import { Argument, Command } from 'commander';
import { formatTable, longRun } from '../long-run';
import { measureDeletion } from './delete';
import { measureDelivery } from './deliver';
import { type Figure, judge, missed, type PartOptions } from './measure';

const parts: Readonly<Record<string, (options: PartOptions) => Promise<readonly Figure[]>>> = {
  delete: measureDeletion,
  deliver: measureDelivery,
};
const names = Object.keys(parts);

const command = new Command('npm run bench --')
  .description('Measures deletions and deliveries; each figure is a ratio within this run.')
  .addArgument(new Argument('[parts...]', 'parts to run').choices(names).default(names))
  .option('--effort <share>', 'fraction of the usual samples, for a quick run', Number, 1);

void longRun<{ effort: number }>(command, async ({ effort }, harness, [chosen]) => {
  const rows: ReturnType<typeof judge>[] = [];
  for (const part of chosen as string[]) {
    harness.progress(`${part}: started, load ${loadavg()[0]?.toFixed(1)}`);
    const figures = (await parts[part]?.({ ...harness, effort })) ?? [];
    rows.push(...figures.map((figure) => judge(part, figure, effort)));
    await harness.cleanup.run();
  }
  const machine = `${cpus().length} × ${cpus()[0]?.model}, ${type()} ${release()}, Node.js ${process.version}`;
  return {
    report: `${machine}\n\n${formatTable(rows)}`,
    failed: rows.some(({ goal }) => goal.endsWith(missed)),
  };
});
