import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '../../../lib/environment';
import { Cleanup } from '../../../local/cleanup';
import { openTokenMaker } from '../../support/api';
import type { Organization } from '../../support/organization';
import { startEnvironments, type TemporaryEnvironments } from '../environments';
import { Checks, type Harness, median, oneOf, percentile, seededRandom } from '../long-run';
import {
  type Api,
  checkGroups,
  checkReplays,
  checkResponses,
  type Deletion,
  sendDeletions,
  signDeletions,
} from './deletions';
import { faults as allFaults, type Fault } from './faults';
import { Groups } from './groups';
import { checkMemory, type MemorySample, sampleMemory } from './memory';
import { visibilityTimeout, Webhooks } from './webhooks';

export interface EnduranceOptions extends Harness {
  readonly environments: readonly Environment[];
  readonly faults: readonly Fault[];
  /** Milliseconds: half without faults, half with them. */
  readonly duration: number;
  readonly seed: number;
  /** Deletions a second in each environment, beside the bursts. */
  readonly rate: number;
  /** Events a second in each environment, and the same number to the slow receivers. */
  readonly eventRate: number;
  /** Slow receivers of another organization, in the first environment. */
  readonly slow: number;
  /** Whether bursts of deletions follow the steady traffic: on a small machine they delay everything else. */
  readonly bursts: boolean;
}

export type Row = Readonly<Record<string, string | number>>;

interface Subject extends Api {
  readonly webhooks: Webhooks;
  /** Every deletion so far. */
  readonly deletions: Deletion[];
}

/** As fast as responses arrive. */
const burst = { count: 120, connections: 40 };
const mostConnections = 8;
/** Milliseconds after the end of a fault, or after messages of a killed reader are visible again. */
const recoveryLimits = { deletions: 10_000, deliveries: 20_000 };
/** Milliseconds until everything accepted has been delivered: the fifth attempt is 75 s after the first. */
const patience = 300_000;
/** Milliseconds after which slow receivers must not delay the healthy ones. */
export const grace = 10_000;

/**
 * Sends deletions and events to local environments, first without faults, then with one fault after another, and checks the
 * guarantees.
 */
export async function endure(options: EnduranceOptions) {
  const { seed, signal, progress, eventRate } = options;
  const checks = new Checks();
  const cleanup = new Cleanup();
  try {
    const context = await startEnvironments(
      cleanup,
      options.environments.map(({ name }) => name),
      signal,
    );
    const subjects: Subject[] = [];
    for (const [index, environment] of options.environments.entries()) {
      const organization = await context.local.walletJson<Organization>(environment.name, 'seed');
      const groups = new Groups(context.local.stateDirectory, environment.name, organization);
      const webhooks = new Webhooks(context.local, environment, groups, seededRandom(seed + index), checks);
      await webhooks.open(cleanup, index === 0 ? options.slow : 0);
      subjects.push({
        name: environment.name,
        baseUrl: context.local.outputs(environment.name).ApiBaseUrl ?? '',
        tokens: await openTokenMaker(context.local, environment.name, environment.tokenIssuer),
        ...{ groups, webhooks, deletions: [] },
      });
    }
    const run = new Run(subjects, context, checks, options);
    await run.warmUp();
    progress('Without faults');
    const calm = await run.withoutFaults();
    progress('With faults');
    const stop = subjects.map(({ webhooks }) => webhooks.start(eventRate, false));
    const faults = await run.withFaults();
    for (const each of stop) await each();
    progress('Waiting until every event has arrived');
    for (const { webhooks } of subjects) {
      await webhooks.drain(patience, signal);
      await webhooks.check();
    }
    if (checks.violations.length > 0) progress(`Logs: ${await saveLogs(context)}`);
    return { checks, faults, ...calm };
  } finally {
    await cleanup.run();
  }
}

class Run {
  private readonly trafficRandom: () => number;
  private readonly faultRandom: () => number;

  constructor(
    private readonly subjects: readonly Subject[],
    private readonly context: TemporaryEnvironments,
    private readonly checks: Checks,
    private readonly options: EnduranceOptions,
  ) {
    // A separate generator: traffic uses a varying number of values.
    this.trafficRandom = seededRandom(options.seed + 1_000);
    this.faultRandom = seededRandom(options.seed);
  }

  /** Sends deletions to every subject at once and checks the responses. @param seconds of steady traffic @default - a burst */
  async round(seconds?: number): Promise<void> {
    const send = await this.sign(seconds);
    await send();
  }

  /**
   * Signs the deletions of a round, which needs the database, and returns what sends them.
   *
   * @param affected the subjects in which a fault may refuse deletions @default - none
   */
  private async sign(seconds?: number, affected: readonly Subject[] = []): Promise<() => Promise<unknown>> {
    const { checks, trafficRandom } = this;
    const { rate, signal } = this.options;
    // Autocannon assigns each connection a whole number of requests a second.
    const connections = Math.min(mostConnections, Math.floor(rate));
    const [count, how] =
      seconds === undefined
        ? [burst.count, { connections: burst.connections, signal }]
        : [connections * Math.ceil((rate * seconds) / connections), { connections, rate, signal }];
    const rounds = await Promise.all(
      this.subjects.map(async (subject) => {
        const made = await signDeletions(subject, count, subject.deletions.slice(-200), trafficRandom);
        return { subject, made, mayRefuse: seconds === undefined || affected.includes(subject) };
      }),
    );
    return () =>
      Promise.all(
        rounds.map(async ({ subject, made, mayRefuse }) => {
          await sendDeletions(subject, made, how, checks);
          subject.deletions.push(...made);
          checkResponses(subject, made, checks, mayRefuse);
        }),
      );
  }

  private async checkState(from: readonly number[]): Promise<void> {
    for (const [index, subject] of this.subjects.entries()) {
      const recent = subject.deletions.slice(from[index]);
      await checkGroups(subject, recent, this.checks);
      await checkReplays(subject, recent, this.checks, this.options.signal);
    }
  }

  /** Deletions while functions start may be refused. */
  async warmUp(): Promise<void> {
    const send = await this.sign(3, this.subjects);
    await send();
  }

  private counts = () => this.subjects.map(({ deletions }) => deletions.length);

  /** Repeats steady traffic, a burst and a memory sample. */
  async withoutFaults() {
    const { duration, eventRate, slow, signal, progress } = this.options;
    const [first] = this.subjects as [Subject];
    const before = this.counts();
    const samples: MemorySample[] = [];
    const began = Date.now();
    const stop = this.subjects.map(({ webhooks }, index) =>
      webhooks.start(eventRate, index === 0 && slow > 0),
    );
    do {
      const from = this.counts();
      await this.round(5);
      if (this.options.bursts) await this.round();
      await this.checkState(from);
      await sampleMemory(this.context.control, samples);
      progress(`${Math.round((Date.now() - began) / 1_000)} s, ${this.checks.violations.length} violations`);
    } while (Date.now() < began + duration / 2);
    for (const each of stop) await each();
    const delays = this.subjects.map(({ webhooks }) => webhooks.healthyDelays(began + grace));
    if (slow > 0) await first.webhooks.removeSlow();
    for (const { webhooks } of this.subjects) {
      await webhooks.drain(patience, signal);
      await webhooks.checkAttempts();
    }
    const latencies = this.subjects.map(({ name, deletions }, index): Row => {
      const own = deletions.slice(before[index]).flatMap(({ milliseconds = [] }) => milliseconds);
      const late = delays[index] ?? [];
      return {
        environment: name,
        deletions: own.length,
        'p50, ms': median(own),
        'p99, ms': percentile(own, 0.99),
        deliveries: late.length,
        'delay, median, ms': median(late),
        'worst, ms': percentile(late, 1),
      };
    });
    return { latencies, memory: checkMemory(samples, this.checks) as Row[] };
  }

  /** One fault after another, each between rounds in which every response must be correct. */
  async withFaults(): Promise<Row[]> {
    const { duration, progress } = this.options;
    const { noDisks } = this.context;
    const possible = this.options.faults.filter(({ name }) => {
      const isPossible = name !== 'disk-full' || noDisks === undefined;
      if (!isPossible) progress(`disk-full is left out: ${noDisks}`);
      return isPossible;
    });
    const rows: Row[] = [];
    const deadline = Date.now() + duration / 2;
    let next: Fault[] = [];
    while (Date.now() < deadline && possible.length > 0) {
      if (next.length === 0) next = shuffled(possible, this.faultRandom);
      rows.push(await this.makeFault(next.pop() as Fault));
      progress(`${Object.values(rows.at(-1) ?? {}).join(', ')}; ${this.checks.violations.length} violations`);
    }
    return rows;
  }

  private async makeFault(fault: Fault): Promise<Row> {
    const { signal } = this.options;
    const one = oneOf(this.faultRandom, this.subjects);
    const reached = fault.reach === 'all' ? this.subjects : [one];
    const [shortest, longest] = fault.lasts;
    const milliseconds = shortest + this.faultRandom() * (longest - shortest);
    const from = this.counts();
    const affected = fault.affectsDeletions ? reached : [];
    const send = await this.sign(Math.max(1, milliseconds / 1_000), affected);
    const end = await fault.begin({
      ...this.context,
      environment: one.name,
      webhooks: this.subjects.map(({ webhooks }) => webhooks),
      random: seededRandom(this.faultRandom() * 2 ** 32),
    });
    const traffic = send();
    // Awaited below, when the fault has ended.
    traffic.catch(() => undefined);
    try {
      await sleep(milliseconds, undefined, { signal });
    } finally {
      await end();
    }
    const endedAt = Date.now();
    const recoveries = await Promise.all(reached.map((subject) => this.recover(subject, fault, endedAt)));
    await traffic;
    await this.round(2);
    await this.checkState(from);
    const slowest = (what: 'deletions' | 'deliveries') =>
      Math.max(...recoveries.map((recovery) => recovery[what])) / 1_000;
    return {
      fault: fault.name,
      in: reached.map(({ name }) => name).join(' '),
      'for, s': (milliseconds / 1_000).toFixed(1),
      'deletions after, s': slowest('deletions').toFixed(1),
      'deliveries after, s': slowest('deliveries').toFixed(1),
    };
  }

  /** Waits until the subject deletes and delivers again. @returns milliseconds since the fault ended */
  private async recover(subject: Subject, fault: Fault, endedAt: number) {
    const { checks } = this;
    const { signal } = this.options;
    const readers = fault.losesReaders ? 2 * visibilityTimeout * 1_000 : 0;
    const until = async (
      what: keyof typeof recoveryLimits,
      limit: number,
      condition: () => Promise<boolean>,
    ) => {
      let isDone = false;
      while (!isDone && Date.now() < endedAt + 2 * limit) {
        isDone = await condition();
        if (!isDone) await sleep(100, undefined, { signal });
      }
      const took = Date.now() - endedAt;
      checks.hold(
        `${what} recover in time`,
        (!isDone || took > limit) && `${subject.name} after ${fault.name}: ${took} ms`,
      );
      return took;
    };
    const eventId = await subject.webhooks.send();
    const [deletions, deliveries] = await Promise.all([
      until('deletions', recoveryLimits.deletions, async () => {
        const made = (await signDeletions(subject, 1, [], () => 1)).slice(0, 1);
        await sendDeletions(subject, made, { connections: 1, signal }, checks);
        subject.deletions.push(...made);
        return made[0]?.response === '200';
      }),
      until('deliveries', recoveryLimits.deliveries + readers, async () =>
        subject.webhooks.hasArrived(eventId),
      ),
    ]);
    return { deletions, deliveries };
  }
}

const shuffled = (faults: readonly Fault[], random: () => number): Fault[] =>
  faults
    .map((fault) => ({ fault, order: random() }))
    .sort((one, other) => one.order - other.order)
    .map(({ fault }) => fault);

/** Copies the logs to a folder that is kept after the run. @returns its path */
async function saveLogs({ local }: TemporaryEnvironments): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'wallet-endurance-logs-'));
  await cp(join(local.stateDirectory, 'logs'), folder, { recursive: true });
  return folder;
}

export const faultNames = allFaults.map(({ name }) => name);
