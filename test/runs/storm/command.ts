import { longRun } from '../harness/command';
import { numberFrom, wholeNumberFrom } from '../harness/options';
import { outcome } from '../harness/report';
import { checkDelays, checkInvariants } from './invariants';
import { report } from './report';
import { runStorm } from './run';
import { fullStorm, type StormSettings } from './settings';

type Options = Pick<StormSettings, 'events' | 'receivers' | 'rate' | 'seed'> & {
  readonly wanted?: number;
};

void longRun<Options>({
  name: 'storm',
  description:
    'Sends events to healthy and sick receivers while functions are killed, and holds the promises of the pipeline against what comes of it',
  declare: (command) =>
    command
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
      ),
  async run({ wanted, ...options }, harness) {
    const { events, receivers } = options;
    const settings: StormSettings = {
      ...fullStorm,
      ...options,
      wanted: Math.min(wanted ?? receivers, receivers),
      calmEvents: Math.min(fullStorm.calmEvents, Math.ceil(events / 5)),
      warmUpEvents: Math.min(fullStorm.warmUpEvents, Math.ceil(events / 5)),
    };
    const seen = await runStorm(settings, harness);
    // A few hundred events say nothing about delays.
    const delays = events >= 1_000 ? [checkDelays(seen)] : [];
    const invariants = [...checkInvariants(seen, settings), ...delays];
    return outcome(report(seen, settings, invariants));
  },
});
