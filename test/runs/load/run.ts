import type { Environment } from '../../../lib/environment';
import { Cleanup } from '../../../local/cleanup';
import type { Harness } from '../harness/command';
import { seededRandom } from '../harness/random';
import { startTemporaryEnvironments } from '../world/environments';
import type { GroupState } from '../world/groups';
import { openPlace, type Place } from '../world/place';
import { type Answered, type FireOptions, fire } from './generator';
import { type MemoryCourse, MemoryWatch } from './memory';
import { makeRequests } from './requests';

export interface LoadOptions extends Harness {
  readonly environments: readonly Environment[];
  /** How long it goes on, in whole cycles. */
  readonly minutes: number;
  /** Decides which requests are made. */
  readonly seed: number;
  /** Requests a second to each environment, in the steady part of a cycle. */
  readonly rate: number;
}

/** Seconds of a cycle's steady part. A burst and a look at the memory follow it. */
const steadySeconds = 15;
/** Connections to each environment while the rate is steady: each sends its share of a second one after the other. */
const steadyConnections = 5;
/** As fast as they are answered, to each environment. */
const burst = { count: 120, connections: 40 };

export type PartName = 'steady' | 'burst';

/** One part of one cycle in one environment. */
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
export async function runLoad({
  environments,
  minutes,
  rate,
  seed,
  ...harness
}: LoadOptions): Promise<Course> {
  const { signal, progress } = harness;
  const cleanup = new Cleanup();
  try {
    const names = environments.map(({ name }) => name);
    const { local, control } = await startTemporaryEnvironments(cleanup, names, {
      signal,
      preload: 'memory',
    });
    const places = await Promise.all(environments.map((environment) => openPlace(local, environment)));
    const watch = new MemoryWatch(control);
    const random = seededRandom(seed);
    /** Each part goes to all environments at once. */
    const runPart = async (
      name: PartName,
      { count, ...how }: Omit<FireOptions, 'signal'> & { count: number },
    ) => {
      const made = await Promise.all(places.map((place) => makeRequests(count, place, random)));
      return Promise.all(
        places.map(async (place, index): Promise<Part> => {
          const began = Date.now();
          const answers = await fire(place.baseUrl, made[index] ?? [], { ...how, signal });
          // Autocannon itself ends at a full second.
          const ended = Math.max(began, ...answers.map(({ answer }) => answer?.at ?? 0));
          return { environment: place.name, name, answers, duration: ended - began };
        }),
      );
    };
    const runCycle = async () => [
      ...(await runPart('steady', { count: rate * steadySeconds, connections: steadyConnections, rate })),
      ...(await runPart('burst', burst)),
    ];

    await runCycle();
    progress('Warm; the load begins');
    const parts: Part[] = [];
    const began = Date.now();
    for (let cycle = 1; Date.now() < began + minutes * 60_000; cycle += 1) {
      signal.throwIfAborted();
      parts.push(...(await runCycle()));
      await watch.look();
      const answers = parts.reduce((sum, part) => sum + part.answers.length, 0);
      progress(`${Math.round((Date.now() - began) / 1_000)} s: cycle ${cycle}, ${answers} answers`);
    }
    return { parts, states: await lookAtGroups(places, parts), memory: watch.courses() };
  } finally {
    await cleanup.run();
  }
}

async function lookAtGroups(places: readonly Place[], parts: readonly Part[]) {
  const states = new Map<string, GroupState>();
  for (const { name, groups } of places) {
    const answers = parts.filter(({ environment }) => environment === name).flatMap((part) => part.answers);
    const found = await groups.look(answers.map(({ request }) => request.groupId));
    for (const [id, state] of found) states.set(id, state);
  }
  return states;
}
