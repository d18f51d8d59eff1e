import { Command, Option } from 'commander';
import { duration } from '../../../cli/shell/options';
import { formatTable, longRun, numberFrom } from '../long-run';
import { faults } from './faults';
import { endure } from './scenario';

interface Options {
  /** Seconds. */
  readonly duration: number;
  readonly slow: number;
  readonly fault?: string;
}

const command = new Command('npm run endurance --')
  .description(
    'Sends deletions and events to local environments, half of the time with injected faults, and checks every response, group, user action and delivery.',
  )
  .addOption(duration('--duration <duration>', 'length of the run', { usual: '10m', most: '6h' }))
  // An organization has at most 50 webhooks, and two are others.
  .option('--slow <number>', 'webhooks whose receiver responds after 14 s', numberFrom(0, 48), 1)
  .addOption(new Option('--fault <name>', 'only this one').choices(faults.map(({ name }) => name)));

void longRun<Options>(command, async ({ duration, slow, fault = '' }, harness) => {
  const chosen = faults.filter(({ name }) => name === (fault || name));
  const { checks, rows } = await endure({ seconds: duration, slow, faults: chosen }, harness);
  return {
    report: `${formatTable(rows)}\n\n${checks.format()}`,
    failed: checks.violations.length > 0,
  };
});
