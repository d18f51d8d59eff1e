import { runInterruptibly } from '../support/interruption';
import { longRun } from '../support/long-run';
import { numberFrom, wholeNumberFrom } from '../support/number-option';
import { checkDelays, checkInvariants } from './invariants';
import { writeReport } from './report';
import { runStorm } from './run';
import { fullStorm, type StormSettings } from './settings';
import { readPipelineTemplate } from './template';

// What later versions of the SDK will ask of Node.js is no news here.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

interface Options {
  readonly events: number;
  readonly receivers: number;
  readonly wanted?: number;
  readonly rate: number;
  readonly seed: number;
}

const options = longRun('storm')
  .description(
    'Sends events to healthy and sick receivers while functions are killed, and holds the promises of the pipeline against what comes of it',
  )
  .option(
    '--events <number>',
    'events while the sick receivers are there',
    wholeNumberFrom(1),
    fullStorm.events,
  )
  .option(
    '--receivers <number>',
    'receivers, of which some are sick',
    wholeNumberFrom(8),
    fullStorm.receivers,
  )
  .option('--wanted <number>', 'receivers that want each event (default: all)', wholeNumberFrom(1))
  .option('--rate <number>', 'events a second', numberFrom(0.1), fullStorm.rate)
  .option(
    '--seed <number>',
    'decides which requests fail and when functions are killed',
    numberFrom(0),
    fullStorm.seed,
  )
  .parse()
  .opts<Options>();

async function run(
  { events, receivers, wanted = receivers, rate, seed }: Options,
  signal: AbortSignal,
): Promise<number> {
  const settings: StormSettings = {
    ...fullStorm,
    ...{ events, receivers, wanted: Math.min(wanted, receivers), rate, seed },
    calmEvents: Math.min(fullStorm.calmEvents, Math.ceil(events / 5)),
    warmUpEvents: Math.min(fullStorm.warmUpEvents, Math.ceil(events / 5)),
  };
  const seen = await runStorm({
    settings,
    template: readPipelineTemplate(),
    signal,
    onProgress: (line) => process.stderr.write(`${line}\n`),
  });
  const invariants = [...checkInvariants(seen, settings), checkDelays(seen)];
  process.stdout.write(`\n${writeReport(seen, settings, invariants)}\n`);
  return invariants.some(({ violations }) => violations.length > 0) ? 1 : 0;
}

void runInterruptibly((signal) => run(options, signal));
