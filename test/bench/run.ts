import { writeFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { Argument, InvalidArgumentError } from 'commander';
import { runInterruptibly } from '../support/interruption';
import { longRun } from '../support/long-run';
import { type PartName, type PartOptions, type PartResult, partNames } from './figures';
import { measureColdStarts } from './parts/cold';
import { measureDeletion } from './parts/delete';
import { measureDelivery } from './parts/deliver';
import { measureGrowth } from './parts/growth';
import { measureStart } from './parts/start';
import { measureSynthesis } from './parts/synth';
import { formatResults, type Results, shortcomings } from './table';

// What later versions of the SDK will ask of Node.js is no news here.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

const measure: Readonly<Record<PartName, (options: PartOptions) => Promise<PartResult>>> = {
  delete: measureDeletion,
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

const program = longRun('bench')
  .description(
    'Measures the product, every figure as a ratio within this run. All parts, or those that are named.',
  )
  .addArgument(new Argument('[parts...]').choices(partNames))
  .option('--json <file>', 'write the results to this file as well')
  .option('--effort <share>', 'take this share of the usual samples, to try things out', share, 1)
  .option('--check', 'exit with 1 when a goal is missed')
  .parse();
const { json, effort, check } = program.opts<{ json?: string; effort: number; check?: true }>();
const asked = program.processedArgs[0] as PartName[];

async function run(signal: AbortSignal): Promise<number> {
  const results: Partial<Record<PartName, PartResult>> = {};
  const loads: string[] = [];
  const failed: PartName[] = [];
  for (const part of asked.length > 0 ? asked : partNames) {
    const begin = performance.now();
    loads.push(`${part} ${loadavg()[0]?.toFixed(1)}`);
    try {
      results[part] = await measure[part]({ effort, signal, onProgress: (line) => note(`${part}: ${line}`) });
      note(`${part}: done in ${((performance.now() - begin) / 1_000).toFixed(1)} s`);
    } catch (error) {
      signal.throwIfAborted();
      // What the other parts have measured is worth having.
      failed.push(part);
      note(`${part}: could not be measured: ${(error as Error).stack}`);
    }
  }
  const machine = `${describeMachine()}. Load of the machine before each part: ${loads.join(', ')}.`;
  console.log(`${machine}\n\n${formatResults(results)}`);
  if (json) writeFileSync(json, `${JSON.stringify({ machine, results }, null, 2)}\n`);
  return failed.length > 0 || (check && complain(results)) ? 1 : 0;
}

function complain(results: Results): boolean {
  const lines = shortcomings(results);
  for (const line of lines) note(line);
  return lines.length > 0;
}

const note = (line: string) => console.error(line);

function describeMachine(): string {
  const processor = `${cpus().length} × ${cpus()[0]?.model ?? 'processor'}`;
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return `${new Date().toISOString().slice(0, 10)}, ${processor}, ${memory}, ${type()} ${release()}, Node.js ${process.version}`;
}

void runInterruptibly(run);
