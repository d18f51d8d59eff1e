import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '../../../lib/environment';
import { Cleanup } from '../../../local/cleanup';
import { Checks } from '../harness/checks';
import type { Harness } from '../harness/command';
import { oneOf, seededRandom, shuffled } from '../harness/random';
import { type CheckName, checkNames } from './check-names';
import { checkAnswers, checkDeliveries, checkGroups, checkReplays, lost } from './checks';
import type { FaultKind } from './kind';
import { type MadeFault, slowest } from './made-fault';
import { recover } from './recovery';
import { startWorld, stockSize, type TroubledPlace, type World } from './world';

export interface FaultsOptions extends Harness {
  readonly environments: readonly Environment[];
  readonly kinds: readonly FaultKind[];
  /** Milliseconds in which faults begin. */
  readonly duration: number;
  readonly seed: number;
}

export interface Course {
  readonly checks: Checks<CheckName>;
  readonly faults: readonly MadeFault[];
  /** Faults that could not be made here, with the reason. */
  readonly notMade: ReadonlyMap<FaultKind, string>;
  readonly places: readonly TroubledPlace[];
  /** Messages that ended in a dead-letter queue. */
  readonly deadLetters: number;
}

/** Milliseconds in which nothing is in trouble, after each fault. */
const calm = 1_500;
/** Milliseconds for what is on the queues to arrive in the end: those of a killed function come back after the visibility timeout. */
const patience = 300_000;

/** Makes faults one after another while requests and events go on, and checks after each, and in the end, what must hold. */
export async function runFaults(options: FaultsOptions): Promise<Course> {
  const { environments, kinds, seed, signal, progress } = options;
  const cleanup = new Cleanup();
  const checks = new Checks(checkNames);
  // What traffic takes of chance depends on time; the faults must not.
  const random = seededRandom(seed + 1);
  try {
    const world = await startWorld(cleanup, { environments, random, checks, signal });
    const { places } = world;
    cleanup.add(async () => {
      for (const { deletions, events } of places) {
        deletions.flow.stop();
        events.close();
      }
    });
    const notMade = new Map(
      kinds.flatMap((kind) => {
        const reason = kind.impossible?.(world);
        return reason === undefined ? [] : [[kind, reason] as const];
      }),
    );
    const flows = places.flatMap(({ deletions, events }) => [deletions.flow, events.flow]);
    const traffic = flows.map((flow) => flow.run());
    await warmUp(world, signal);
    const possible = kinds.filter((kind) => !notMade.has(kind));
    const faults = await makeFaults(world, { ...options, kinds: possible, checks });
    for (const flow of flows) flow.stop();
    await Promise.all(traffic);
    progress('Waiting until every event has arrived');
    const deadLetters = await checkEvents(world, checks, signal);
    for (const place of places) await checkGroups(place, place.deletions.attempts, checks);
    if (checks.violations.length > 0) progress(`Logs: ${await keepLogs(world)}`);
    return { checks, faults, notMade, places, deadLetters };
  } finally {
    await cleanup.run();
  }
}

/** Waits until the functions have started that the traffic needs: until ten deletions in a row are quick. */
async function warmUp({ places }: World, signal: AbortSignal): Promise<void> {
  for (const { deletions } of places) {
    for (let quick = 0; quick < 10; ) {
      const attempt = await deletions.due();
      const isQuick = attempt?.answer === '200' && (attempt.answeredAt ?? 0) - attempt.sentAt < 500;
      quick = isQuick ? quick + 1 : 0;
      await sleep(200, undefined, { signal });
    }
  }
}

type MakeOptions = Omit<FaultsOptions, 'environments'> & { readonly checks: Checks<CheckName> };

async function makeFaults(world: World, options: MakeOptions): Promise<MadeFault[]> {
  const { kinds, duration, seed, signal, progress, checks } = options;
  const random = seededRandom(seed);
  const faults: MadeFault[] = [];
  const checked = new Map(world.places.map((place) => [place, place.deletions.attempts.length]));
  const deadline = Date.now() + duration;
  let next: FaultKind[] = [];
  while (Date.now() < deadline) {
    if (next.length === 0) next = shuffled(random, kinds);
    const kind = next.pop();
    if (!kind) break;
    const fault = await makeFault(world, kind, seededRandom(random() * 2 ** 32), options);
    faults.push(fault);
    await sleep(calm, undefined, { signal });
    progress(`${inWords(fault)}; ${checks.violations.length} violations so far`);
    for (const [place, from] of checked) {
      const answered = place.deletions.attempts.slice(from).filter(({ answer }) => answer !== undefined);
      await checkGroups(place, answered, checks);
      await checkReplays(place, answered, checks);
      await place.groups.fill(stockSize);
    }
    for (const [place, from] of checked) {
      const { attempts } = place.deletions;
      // In their order: up to the first that is not answered yet.
      const open = attempts.findIndex(({ answer }, index) => index >= from && answer === undefined);
      const end = open < 0 ? attempts.length : open;
      checkAnswers(attempts.slice(from, end), faults, checks);
      checked.set(place, end);
    }
  }
  return faults;
}

async function makeFault(
  world: World,
  kind: FaultKind,
  random: () => number,
  { checks, signal }: MakeOptions,
): Promise<MadeFault> {
  const one = oneOf(random, world.places);
  const places = kind.reach === 'all' ? world.places : [one];
  const from = Date.now();
  const end = await kind.begin(world, one, random);
  const [shortest, longest] = kind.lasts;
  try {
    await sleep(shortest + random() * (longest - shortest), undefined, { signal });
  } finally {
    await end();
  }
  const until = Date.now();
  const recoveries = await Promise.all(
    places.map(
      async (place) => [place.name, await recover(place, { kind, since: until, checks, signal })] as const,
    ),
  );
  return { kind, from, until, recoveries: new Map(recoveries) };
}

function inWords(fault: MadeFault): string {
  const { kind, from, until, recoveries } = fault;
  return [
    `${kind.name} in ${[...recoveries.keys()].join(', ')} for ${((until - from) / 1_000).toFixed(1)} s:`,
    `deletions again after ${slowest(fault, 'deletions').toFixed(1)} s,`,
    `deliveries after ${slowest(fault, 'deliveries').toFixed(1)} s`,
  ].join(' ');
}

/** Waits until every event has arrived or is a dead letter, and gives the number of dead letters. */
async function checkEvents(
  { places }: World,
  checks: Checks<CheckName>,
  signal: AbortSignal,
): Promise<number> {
  const deadline = Date.now() + patience;
  const dead = new Map(places.map((place) => [place, [] as string[]]));
  for (;;) {
    for (const [{ events }, letters] of dead) letters.push(...(await events.takeDeadLetters()));
    const isOpen = [...dead].some(([{ events }, letters]) => lost(events.missing(), letters).length > 0);
    if (!isOpen || Date.now() >= deadline) break;
    await sleep(200, undefined, { signal });
  }
  for (const [place, letters] of dead) {
    checkDeliveries(place, letters, checks);
    place.events.checkRequests(checks);
  }
  return [...dead.values()].flat().length;
}

/** Copies the logs to a folder that outlives the run, and gives its path. */
async function keepLogs({ local }: World): Promise<string> {
  const kept = await mkdtemp(join(tmpdir(), 'wallet-faults-logs-'));
  await cp(join(local.stateDirectory, 'logs'), kept, { recursive: true });
  return kept;
}
