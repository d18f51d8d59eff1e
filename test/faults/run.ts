import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '../../lib/environment/environment';
import { Cleanup } from '../../lib/local/cleanup';
import { oneOf, seededRandom, shuffled } from '../support/random';
import { checkAnswers, checkDeliveries, checkGroups, checkReplays, lost } from './checks';
import { Findings, type MadeFault } from './findings';
import type { FaultKind } from './kinds';
import { recover } from './recovery';
import { type Place, startWorld, stockSize, type World } from './world';

export interface RunOptions {
  readonly environments: readonly Environment[];
  readonly kinds: readonly FaultKind[];
  /** Milliseconds in which faults begin. */
  readonly duration: number;
  readonly seed: number;
  /** Ends the run early. */
  readonly signal: AbortSignal;
  readonly onProgress: (line: string) => void;
}

export interface Course {
  readonly findings: Findings;
  readonly faults: readonly MadeFault[];
  /** Faults that could not be made here, with the reason. */
  readonly notMade: ReadonlyMap<FaultKind, string>;
  readonly places: readonly Place[];
  /** Messages that ended in a dead-letter queue. */
  readonly deadLetters: number;
}

/** Milliseconds in which nothing is in trouble, after each fault. */
const calm = 1_500;
/** Milliseconds for what is on the queues to arrive in the end: those of a killed function come back after the visibility timeout. */
const patience = 300_000;

/** Makes faults one after another while requests and events go on, and checks after each, and in the end, what must hold. */
export async function runFaults(options: RunOptions): Promise<Course> {
  const cleanup = new Cleanup();
  const findings = new Findings();
  // What traffic takes of chance depends on time; the faults must not.
  const random = seededRandom(options.seed + 1);
  const onViolation = (violation: string) => findings.violate(violation);
  try {
    const world = await startWorld(cleanup, { environments: options.environments, random, onViolation });
    const end = () => {
      for (const { deletions, events } of world.places) {
        deletions.stop();
        events.close();
      }
    };
    // Traffic whose environments are gone would go on for ever.
    options.signal.addEventListener('abort', end);
    cleanup.add(async () => end());
    const notMade = new Map(
      options.kinds.flatMap((kind) => {
        const reason = kind.impossible?.(world);
        return reason === undefined ? [] : [[kind, reason] as const];
      }),
    );
    const traffic = world.places.flatMap(({ deletions, events }) => [deletions.run(), events.run()]);
    await warmUp(world, options.signal);
    const faults = await makeFaults(
      world,
      { ...options, kinds: options.kinds.filter((kind) => !notMade.has(kind)) },
      findings,
    );
    for (const { deletions, events } of world.places) {
      deletions.stop();
      events.stop();
    }
    await Promise.all(traffic);
    if (!options.signal.aborted) options.onProgress('Waiting until every event has arrived');
    const deadLetters = await checkEvents(world, findings, options.signal);
    for (const place of world.places) await checkGroups(place, place.deletions.attempts, findings);
    if (findings.violations.length > 0) options.onProgress(`Logs: ${await world.environments.keepLogs()}`);
    return { findings, faults, notMade, places: world.places, deadLetters };
  } finally {
    await cleanup.run();
  }
}

/** Waits until the functions have started that the traffic needs: until ten deletions in a row are quick. */
async function warmUp({ places }: World, signal: AbortSignal): Promise<void> {
  for (const { deletions } of places) {
    for (let quick = 0; quick < 10 && !signal.aborted; ) {
      const attempt = await deletions.due();
      const isQuick = attempt?.answer === '200' && (attempt.answeredAt ?? 0) - attempt.sentAt < 500;
      quick = isQuick ? quick + 1 : 0;
      await sleep(200);
    }
  }
}

async function makeFaults(
  world: World,
  { kinds, duration, seed, signal, onProgress }: RunOptions,
  findings: Findings,
): Promise<MadeFault[]> {
  const random = seededRandom(seed);
  const faults: MadeFault[] = [];
  const checked = new Map(world.places.map(({ name, deletions }) => [name, deletions.attempts.length]));
  const deadline = Date.now() + duration;
  let next: FaultKind[] = [];
  while (Date.now() < deadline && !signal.aborted) {
    if (next.length === 0) next = shuffled(random, kinds);
    const kind = next.pop();
    if (!kind) break;
    const fault = await makeFault(world, {
      kind,
      random: seededRandom(random() * 2 ** 32),
      findings,
      signal,
    });
    faults.push(fault);
    await sleep(calm);
    onProgress(inWords(fault, findings));
    for (const place of world.places) {
      const { attempts } = place.deletions;
      const answered = attempts.slice(checked.get(place.name)).filter(({ answer }) => answer !== undefined);
      await checkGroups(place, answered, findings);
      await checkReplays(place, answered, findings);
      await place.groups.fill(stockSize);
    }
    for (const place of world.places) {
      const { attempts } = place.deletions;
      const end = settledUpTo(attempts, checked.get(place.name) ?? 0);
      checkAnswers(attempts.slice(checked.get(place.name), end), faults, findings);
      checked.set(place.name, end);
    }
  }
  return faults;
}

/** Attempts are checked in their order: up to the first that is not answered yet. */
function settledUpTo(attempts: Place['deletions']['attempts'], from: number): number {
  const open = attempts.findIndex(({ answer }, index) => index >= from && answer === undefined);
  return open < 0 ? attempts.length : open;
}

interface FaultOptions {
  readonly kind: FaultKind;
  readonly random: () => number;
  readonly findings: Findings;
  readonly signal: AbortSignal;
}

async function makeFault(world: World, { kind, random, findings, signal }: FaultOptions): Promise<MadeFault> {
  const places = kind.reach === 'all' ? world.places : [oneOf(random, world.places)];
  const from = Date.now();
  const end = await kind.begin(world, places, random);
  const [shortest, longest] = kind.lasts;
  await sleep(shortest + random() * (longest - shortest));
  await end();
  const until = Date.now();
  const recovered = await Promise.all(
    places.map(
      async (place) => [place.name, await recover(place, { kind, since: until, findings, signal })] as const,
    ),
  );
  return {
    kind,
    environments: places.map(({ name }) => name),
    from,
    until,
    deletionsRecovered: new Map(recovered.map(([name, { deletions }]) => [name, deletions])),
    deliveriesRecovered: new Map(recovered.map(([name, { deliveries }]) => [name, deliveries])),
  };
}

function inWords({ kind, environments, from, until, ...recovered }: MadeFault, findings: Findings): string {
  const took = (times: ReadonlyMap<string, number>) =>
    `${((Math.max(...times.values()) - until) / 1_000).toFixed(1)} s`;
  return [
    `${kind.name} in ${environments.join(', ')} for ${((until - from) / 1_000).toFixed(1)} s:`,
    `deletions again after ${took(recovered.deletionsRecovered)}, deliveries after ${took(recovered.deliveriesRecovered)};`,
    `${findings.violations.length} violations so far`,
  ].join(' ');
}

/** Waits until every event has arrived or lies dead, and says how many messages do. */
async function checkEvents({ places }: World, findings: Findings, signal: AbortSignal): Promise<number> {
  const deadline = Date.now() + patience;
  const dead = new Map(places.map((place) => [place, [] as string[]]));
  for (;;) {
    for (const [{ events, outputs }, letters] of dead) {
      letters.push(
        ...(await events.takeDeadLetters(outputs.WebhookEventsDeadLetterQueueUrl ?? '')),
        ...(await events.takeDeadLetters(outputs.WebhookDeliveryDeadLetterQueueUrl ?? '')),
      );
    }
    const isOpen = [...dead].some(([{ events }, letters]) => lost(events.missing(), letters).length > 0);
    if (!isOpen || Date.now() >= deadline || signal.aborted) break;
    await sleep(200);
  }
  for (const [place, letters] of dead) checkDeliveries(place, letters, findings);
  return [...dead.values()].flat().length;
}
