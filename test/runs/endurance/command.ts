import { Option } from 'commander';
import { duration } from '../../../cli/options';
import { Cleanup } from '../../../local/cleanup';
import { formatTable, longRun, numberFrom } from '../long-run';
import { faults } from './faults';
import { endure } from './scenario';

void longRun<{
  /** Seconds. */
  readonly duration: number;
  readonly slow: number;
  readonly fault?: string;
}>({
  name: 'endurance',
  description:
    'Sends deletions and events to local environments, half of the time with injected faults, and checks every response, group, user action and delivery, and memory.',
  declare: (command) =>
    command
      .addOption(duration('--duration <duration>', 'length of the run', { usual: '10m', most: '1d' }))
      .option(
        '--slow <number>',
        'number of webhooks whose receiver responds after 14 s, without faults',
        // An organization has at most 50 webhooks, and three are others.
        numberFrom(0, 47),
        1,
      )
      .addOption(new Option('--fault <name>', 'only this one').choices(faults.map(({ name }) => name))),
  async run({ duration, slow, fault }, harness) {
    const cleanup = new Cleanup();
    try {
      const seen = await endure(
        {
          ...{ ...harness, slow, duration: duration * 1_000 },
          faults: faults.filter(({ name }) => name === (fault ?? name)),
        },
        cleanup,
      );
      const report = `${formatTable(seen.faults)}\n\n${seen.checks.format()}`;
      return { report, failed: seen.checks.violations.length > 0 };
    } finally {
      await cleanup.run();
    }
  },
});
