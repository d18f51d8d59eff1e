import { Cleanup } from '../../lib/local/cleanup';
import { seededRandom } from '../support/random';
import { createKiller, type Killer } from './killer';
import { type Observations, observe } from './observations';
import { type Phase, type PhaseName, runPhase } from './phase';
import type { StormSettings } from './settings';
import type { PipelineTemplate } from './template';
import { startWorld, type World } from './world';

export interface RunOptions {
  readonly settings: StormSettings;
  readonly template: PipelineTemplate;
  /** Ends the run early; nothing is left of it then. */
  readonly signal?: AbortSignal;
  /** Gets a line now and then about how far it is. @default - nothing is told */
  readonly onProgress?: (line: string) => void;
}

/**
 * Runs events past the healthy receivers alone, then past all of them, then past the healthy ones again, while
 * functions are killed; each time until the queues are empty.
 */
export async function runStorm({
  settings,
  template,
  signal,
  onProgress,
}: RunOptions): Promise<Observations> {
  const cleanup = new Cleanup();
  const abort = () => void cleanup.run().catch(() => undefined);
  signal?.addEventListener('abort', abort);
  try {
    const began = Date.now();
    const world = await startWorld(cleanup, settings, template);
    const killers = createKillers(world, settings);
    cleanup.add(async () => Object.values(killers).forEach((killer) => void killer.stop()));
    const phases: Phase[] = [];
    const run = async (name: PhaseName, events: number, rate: number) => {
      onProgress?.(
        `${name}: ${events} events, ${rate === Infinity ? 'as fast as can be' : `${rate.toFixed(1)} a second`}`,
      );
      const strikers = name === 'warm-up' ? [] : Object.values(killers);
      phases.push(await runPhase(world, { settings, name, events, rate, killers: strikers, onProgress }));
      signal?.throwIfAborted();
    };

    await run('warm-up', settings.warmUpEvents, Number.POSITIVE_INFINITY);
    const { rate } = settings;
    await run('calm', Math.ceil(settings.calmEvents / 2), rate);
    await run('storm', settings.events, rate);
    await run('calm', Math.ceil(settings.calmEvents / 2), rate);
    const kills = {
      deliverWebhook: killers.deliverWebhook.kills(),
      fanOutEvent: killers.fanOutEvent.kills(),
    };
    return await observe(world, { phases, kills, duration: Date.now() - began });
  } finally {
    signal?.removeEventListener('abort', abort);
    await cleanup.run();
  }
}

function createKillers(world: World, { seed, killEvery }: StormSettings) {
  const random = seededRandom(seed);
  const killer = (stage: 'deliver' | 'fanOut', every: number): Killer =>
    createKiller(world[stage].function, { every, random });
  return {
    deliverWebhook: killer('deliver', killEvery.deliverWebhook),
    fanOutEvent: killer('fanOut', killEvery.fanOutEvent),
  };
}
