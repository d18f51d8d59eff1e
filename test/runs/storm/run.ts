import { Cleanup } from '../../../local/cleanup';
import type { Harness } from '../harness/command';
import { seededRandom } from '../harness/random';
import { createKiller } from './killer';
import { type Observations, observe } from './observations';
import { type Phase, type PhaseName, runPhase } from './phase';
import type { StormSettings } from './settings';
import { startWorld } from './world';

/**
 * Runs events past the healthy receivers alone, past
 * all of them, and past the healthy ones again, while functions are killed; each time until the queues are empty.
 *
 * @param harness @default - nothing is told, and nothing ends it early
 */
export async function runStorm(settings: StormSettings, harness?: Harness): Promise<Observations> {
  const { seed, killEvery, rate } = settings;
  const cleanup = new Cleanup();
  const abort = () => void cleanup.run().catch(() => undefined);
  harness?.signal.addEventListener('abort', abort);
  try {
    const began = Date.now();
    const world = await startWorld(cleanup, settings);
    const random = seededRandom(seed);
    const deliverWebhook = createKiller(world.deliver.function, { every: killEvery.deliverWebhook, random });
    const fanOutEvent = createKiller(world.fanOut.function, { every: killEvery.fanOutEvent, random });
    const killers = [deliverWebhook, fanOutEvent];
    cleanup.add(async () => killers.forEach((killer) => void killer.stop()));
    const phases: Phase[] = [];
    const run = async (name: PhaseName, events: number, eventRate = rate) => {
      const speed = eventRate === Infinity ? 'as fast as can be' : `${eventRate.toFixed(1)} a second`;
      harness?.progress(`${name}: ${events} events, ${speed}`);
      phases.push(
        await runPhase(world, {
          ...{ settings, name, events, rate: eventRate },
          killers: name === 'warm-up' ? [] : killers,
          progress: harness?.progress,
        }),
      );
      harness?.signal.throwIfAborted();
    };

    world.deliver.attach();
    world.fanOut.attach();
    await run('warm-up', settings.warmUpEvents, Number.POSITIVE_INFINITY);
    await run('calm', Math.ceil(settings.calmEvents / 2));
    await run('storm', settings.events);
    await run('calm', Math.ceil(settings.calmEvents / 2));
    const kills = { deliverWebhook: deliverWebhook.kills(), fanOutEvent: fanOutEvent.kills() };
    return await observe(world, { phases, kills, duration: Date.now() - began });
  } finally {
    harness?.signal.removeEventListener('abort', abort);
    await cleanup.run();
  }
}
