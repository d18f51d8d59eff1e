import { writeFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { Argument, InvalidArgumentError } from 'commander';
import { Cleanup } from '../../../local/cleanup';
import { longRun } from '../harness/command';
import { temporaryFolder } from '../world/temporary-folder';
import { type PartName, type PartOptions, type PartResult, partNames } from './figures';
import { measureColdStarts } from './parts/cold';
import { measureDataApi } from './parts/data-api';
import { measureDeletion } from './parts/delete';
import { measureDelivery } from './parts/deliver';
import { measureGrowth } from './parts/growth';
import { measureStart } from './parts/start';
import { measureSynthesis } from './parts/synth';
import { formatResults, shortcomings } from './table';

const measure: Readonly<Record<PartName, (options: PartOptions) => Promise<PartResult>>> = {
  delete: measureDeletion,
  'data-api': measureDataApi,
  growth: measureGrowth,
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

void longRun<{ json?: string; effort: number; check?: true }>({
  name: 'bench',
  description:
    'Measures the product, every figure as a ratio within this run. All parts, or those that are named.',
  declare: (command) =>
    command
      .addArgument(new Argument('[parts...]').choices(partNames))
      .option('--json <file>', 'write the results to this file as well')
      .option('--effort <share>', 'take this share of the usual samples, to try things out', share, 1)
      .option('--check', 'exit with 1 when a goal is missed'),
  async run({ json, effort, check }, { signal, progress }, [named]) {
    const asked = named as PartName[];
    const results: Partial<Record<PartName, PartResult>> = {};
    const loads: string[] = [];
    let failed = false;
    for (const part of asked.length > 0 ? asked : partNames) {
      const begin = performance.now();
      loads.push(`${part} ${loadavg()[0]?.toFixed(1)}`);
      const cleanup = new Cleanup();
      const tell = (line: string) => progress(`${part}: ${line}`);
      try {
        const directory = await temporaryFolder(cleanup);
        results[part] = await measure[part]({ effort, signal, cleanup, directory, progress: tell });
        tell(`done in ${((performance.now() - begin) / 1_000).toFixed(1)} s`);
      } catch (error) {
        signal.throwIfAborted();
        // What the other parts have measured is worth having.
        failed = true;
        tell(`could not be measured: ${(error as Error).stack}`);
      } finally {
        await cleanup.run();
      }
    }
    const machine = `${describeMachine()}. Load of the machine before each part: ${loads.join(', ')}.`;
    if (json) writeFileSync(json, `${JSON.stringify({ machine, results }, null, 2)}\n`);
    const missed = check ? shortcomings(results) : [];
    missed.forEach(progress);
    return { report: `${machine}\n\n${formatResults(results)}`, failed: failed || missed.length > 0 };
  },
});

function describeMachine(): string {
  const processor = `${cpus().length} × ${cpus()[0]?.model ?? 'processor'}`;
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return `${new Date().toISOString().slice(0, 10)}, ${processor}, ${memory}, ${type()} ${release()}, Node.js ${process.version}`;
}
