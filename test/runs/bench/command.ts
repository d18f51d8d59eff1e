import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { Argument, InvalidArgumentError } from 'commander';
import { Cleanup } from '../../../local/cleanup';
import { formatTable, longRun, temporaryFolder } from '../long-run';
import { measureColdStarts } from './cold';
import { measureDeletion } from './delete';
import { measureDelivery } from './deliver';
import { type Figure, formatFigure, isMissed, type PartOptions } from './measure';
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

void longRun<{ effort: number; check?: true }>({
  name: 'bench',
  description: 'Measures the product; each figure is a ratio within this run.',
  declare: (command) =>
    command
      .addArgument(new Argument('[parts...]', 'parts to run (default: all)').choices(Object.keys(parts)))
      .option('--effort <share>', 'fraction of the usual samples, for a quick run', share, 1)
      .option('--check', 'exit with 1 if a goal is missed'),
  async run({ effort, check }, { signal, progress }, [named]) {
    const chosen = (named as string[]).length > 0 ? (named as string[]) : Object.keys(parts);
    const rows: ReturnType<typeof formatFigure>[] = [];
    let failed = false;
    for (const part of chosen) {
      progress(`${part}: started, load ${loadavg()[0]?.toFixed(1)}`);
      const cleanup = new Cleanup();
      try {
        const directory = await temporaryFolder(cleanup);
        const figures = (await parts[part]?.({ effort, signal, cleanup, directory, progress })) ?? [];
        rows.push(...figures.map((figure) => formatFigure(part, figure)));
        failed ||= check === true && figures.some(isMissed);
      } catch (error) {
        signal.throwIfAborted();
        // The other parts still run.
        failed = true;
        progress(`${part}: failed: ${(error as Error).stack}`);
      } finally {
        await cleanup.run();
      }
    }
    const machine = `${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}, Node.js ${process.version}`;
    return { report: `${machine}\n\n${formatTable(rows)}`, failed };
  },
});
