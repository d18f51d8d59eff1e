import type { Environment } from '../../lib/environment/environment';
import { Cleanup } from '../../lib/local/cleanup';
import type { GroupState } from '../support/group-stock';
import { seededRandom } from '../support/random';
import { type Answered, fire } from './generator';
import type { MemoryCourse } from './memory';
import { makeRequests } from './requests';
import { burst, type LoadSettings, steadyConnections, steadySeconds } from './settings';
import { type Place, startWorld, type World } from './world';

export interface RunOptions extends LoadSettings {
  readonly environments: readonly Environment[];
  /** Ends the run early; what it gives then is of no use. */
  readonly signal: AbortSignal;
  readonly onProgress: (line: string) => void;
}

export type PartName = 'steady' | 'burst';

/** All that came of one part of all cycles in one environment. */
export interface Part {
  readonly environment: string;
  readonly name: PartName;
  readonly answers: readonly Answered[];
  /** Milliseconds until the last of them was answered. */
  readonly duration: number;
}

export interface Course {
  readonly parts: readonly Part[];
  /** By group. */
  readonly states: ReadonlyMap<string, GroupState>;
  readonly memory: readonly MemoryCourse[];
}

/** Sends a steady flow and a burst of requests to each environment, again and again, and looks at the memory in between. */
export async function runLoad(options: RunOptions): Promise<Course> {
  const cleanup = new Cleanup();
  try {
    const world = await startWorld(cleanup, options.environments, seededRandom(options.seed));
    const parts: Part[] = [];
    await runCycle(world, options);
    options.onProgress('Warm; the load begins');
    const began = Date.now();
    const deadline = began + options.minutes * 60_000;
    for (let cycle = 1; Date.now() < deadline && !options.signal.aborted; cycle += 1) {
      parts.push(...(await runCycle(world, options)));
      await world.memory.look();
      const answers = parts.reduce((sum, part) => sum + part.answers.length, 0);
      options.onProgress(`${Math.round((Date.now() - began) / 1_000)} s: cycle ${cycle}, ${answers} answers`);
    }
    const states = new Map<string, GroupState>();
    for (const place of world.places) {
      const ids = answersOf(parts, place).map(({ request }) => request.groupId);
      for (const [id, state] of await place.groups.look(ids)) states.set(id, state);
    }
    return { parts, states, memory: world.memory.courses() };
  } finally {
    await cleanup.run();
  }
}

const answersOf = (parts: readonly Part[], { name }: Place): readonly Answered[] =>
  parts.filter(({ environment }) => environment === name).flatMap(({ answers }) => answers);

/** Each part goes to all environments at once. */
async function runCycle({ places }: World, { rate, signal }: RunOptions): Promise<Part[]> {
  const steady = { count: rate * steadySeconds, connections: steadyConnections, rate };
  const { requests: count, connections } = burst;
  return [
    ...(await runPart(places, 'steady', { ...steady, signal })),
    ...(await runPart(places, 'burst', { count, connections, signal })),
  ];
}

async function runPart(
  places: readonly Place[],
  name: PartName,
  { count, ...how }: Parameters<typeof fire>[2] & { readonly count: number },
): Promise<Part[]> {
  const made = await Promise.all(places.map((place) => makeRequests(count, place)));
  return Promise.all(
    places.map(async (place, index) => {
      const began = Date.now();
      const answers = await fire(place.baseUrl, made[index] ?? [], how);
      // Autocannon itself ends at a full second.
      const ended = Math.max(began, ...answers.map(({ answer }) => answer?.at ?? 0));
      return { environment: place.name, name, answers, duration: ended - began };
    }),
  );
}
