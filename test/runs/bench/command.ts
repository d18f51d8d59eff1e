import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { Argument, Command, InvalidArgumentError } from 'commander';
import { formatTable, longRun, temporaryFolder } from '../long-run';
import { measureColdStarts } from './cold';
import { measureDeletion } from './delete';
import { measureDelivery } from './deliver';
import { type Figure, judge, type PartOptions } from './measure';
import { measureStart } from './start';
import { measureSynthesis } from './synth';

const parts: Readonly<Record<string, (options: PartOptions) => Promise<readonly Figure[]>>> = {
  delete: measureDeletion,
  cold: measureColdStarts,
  deliver: measureDelivery,
  synth: measureSynthesis,
  start: measureStart,
};

const share = (text: string): number => {
  const number = Number(text);
  if (!(number > 0 && number <= 1)) throw new InvalidArgumentError('Give a number from 0 to 1.');
  return number;
};

const command = new Command('npm run bench --')
  .description('Measures the product; each figure is a ratio within this run.')
  .addArgument(
    new Argument('[parts...]', 'parts to run').choices(Object.keys(parts)).default(Object.keys(parts)),
  )
  .option('--effort <share>', 'fraction of the usual samples, for a quick run', share, 1)
  .option('--check', 'exit with 1 if a goal is missed');

void longRun<{ effort: number; check?: true }>(command, async ({ effort, check }, harness, [chosen]) => {
  const { progress, cleanup } = harness;
  const judged: ReturnType<typeof judge>[] = [];
  for (const part of chosen as string[]) {
    progress(`${part}: started, load ${loadavg()[0]?.toFixed(1)}`);
    const directory = await temporaryFolder(cleanup);
    const figures = (await parts[part]?.({ ...harness, effort, directory })) ?? [];
    judged.push(...figures.map((figure) => judge(part, figure)));
    await cleanup.run();
  }
  const date = new Date().toISOString().slice(0, 10);
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const machine = `${cpus().length} × ${cpus()[0]?.model}, ${memory}, ${type()} ${release()}`;
  return {
    report: `${date}, ${machine}, Node.js ${process.version}\n\n${formatTable(judged.map(({ row }) => row))}`,
    failed: check === true && judged.some(({ isMissed }) => isMissed),
  };
});
