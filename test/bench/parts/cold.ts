import { execFile } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Cleanup } from '../../../lib/local/cleanup';
import { bundle, packagesOf, synthesizeBundles } from '../bundles';
import { clientsAlone } from '../clients-alone';
import { type ColdStart, startColdWorld } from '../cold-world';
import { type Check, compare, type Figure, type PartOptions, type PartResult, samplesFor } from '../figures';
import { interleave, type TakeSample } from '../interleave';
import { lambdaRuntime, type NodeRuntime, ownRuntime } from '../node-runtime';

/** A bundle that is loaded in fresh processes, and what it is told there. */
interface Candidate {
  readonly folder: string;
  readonly start: ColdStart;
  /** Whether it is the product's, whose answer is looked at. */
  readonly ours: boolean;
}

/** Milliseconds of one fresh process. */
interface Sample {
  /** Loading the bundle and the first invocation. */
  readonly own: number;
  /** The whole process, Node.js's own start included. */
  readonly whole: number;
}

/** Loading and the first invocation of every bundle, in fresh processes. */
export async function measureColdStarts(options: PartOptions): Promise<PartResult> {
  const cleanup = new Cleanup();
  try {
    const directory = await mkdtemp(join(tmpdir(), 'wallet-bench-'));
    cleanup.add(() => rm(directory, { recursive: true }));
    const deployed = await synthesizeBundles(join(directory, 'assembly'), options.signal);
    const starts = await startColdWorld(cleanup, directory, options.signal);
    const unmeasured = Object.keys(deployed).filter(
      (name) => !starts.some(({ useCase }) => useCase === name),
    );
    if (unmeasured.length > 0) {
      throw new Error(`test/bench/cold-world.ts has no first event for: ${unmeasured.join(', ')}.`);
    }
    const empty = bundle(join(directory, 'empty'), { source: clientsAlone([]) });
    const pairs = starts.map((start) => ({
      start,
      ours: deployed[start.useCase] ?? '',
      alone: bundle(join(directory, 'alone', start.name), {
        source: clientsAlone(start.calls, start.loaded),
      }),
    }));
    const figures: Figure[] = [];
    for (const runtime of await runtimes(options)) {
      figures.push(...(await measureWith(runtime, { pairs, empty, directory }, options)));
    }
    return { figures: [...figures, ...pairs.map(compareSizes)], checks: [checkAuthorizer()] };
  } finally {
    await cleanup.run();
  }
}

async function runtimes({ onProgress }: PartOptions): Promise<readonly NodeRuntime[]> {
  try {
    return [ownRuntime, await lambdaRuntime()];
  } catch (error) {
    onProgress(`Node.js 24 is not to be had from the registry: ${(error as Error).message}`);
    return [ownRuntime];
  }
}

interface Bundles {
  readonly pairs: readonly { readonly start: ColdStart; readonly ours: string; readonly alone: string }[];
  readonly empty: string;
  readonly directory: string;
}

async function measureWith(
  runtime: NodeRuntime,
  { pairs, empty, directory }: Bundles,
  options: PartOptions,
): Promise<Figure[]> {
  const events = join(directory, 'events');
  mkdirSync(events, { recursive: true });
  const sample =
    ({ folder, start, ours }: Candidate): TakeSample<Sample> =>
    async () => {
      const eventFile = join(events, `${start.name}.json`);
      writeFileSync(eventFile, JSON.stringify(start.event()));
      return coldStart(runtime, folder, eventFile, { ...start, ours });
    };
  const [first] = pairs;
  if (!first) return [];
  const variants: Record<string, TakeSample<Sample>> = {
    empty: sample({ folder: empty, start: first.start, ours: false }),
  };
  for (const { start, ours, alone } of pairs) {
    variants[`${start.name}, ours`] = sample({ folder: ours, start, ours: true });
    variants[`${start.name}, alone`] = sample({ folder: alone, start, ours: false });
  }
  const rounds = { samples: samplesFor(options, 30), warmUp: 2, signal: options.signal };
  options.onProgress(
    `Node.js ${runtime.version}: ${rounds.samples} rounds of ${Object.keys(variants).length}`,
  );
  const taken = await interleave(variants, rounds);
  const own = (name: string) => (taken[name] ?? []).map((one) => one.own);
  const whole = (name: string) => (taken[name] ?? []).map((one) => one.whole);
  const unit = 'ms';
  return pairs.flatMap(({ start }) => {
    const ours = `${start.name}, ours`;
    const what = `${start.name}, Node.js ${runtime.version}`;
    const wholeProcess = compare(
      { what: `${what}: whole process`, against: 'an empty bundle', unit },
      whole(ours),
      whole('empty'),
    );
    if (start.calls.length + start.loaded.length === 0) return [wholeProcess];
    return [
      compare(
        { what, against: `${start.against} alone`, unit, goal: { bound: 'at most', ratio: 1.2 } },
        own(ours),
        own(`${start.name}, alone`),
      ),
      wholeProcess,
    ];
  });
}

/** @throws Error when it is not answered as it should be */
async function coldStart(
  runtime: NodeRuntime,
  folder: string,
  eventFile: string,
  { environment, isExpected, name, ours }: ColdStart & { readonly ours: boolean },
): Promise<Sample> {
  const runner = join(__dirname, '../functions/cold-start.cjs');
  const begin = performance.now();
  const { stdout } = await promisify(execFile)(runtime.program, [runner, folder, eventFile], {
    cwd: folder,
    env: environment,
  });
  const whole = performance.now() - begin;
  const { load, invoke, answer } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  if (ours && !isExpected(answer)) throw new Error(`${name}: not as expected: ${stdout}`);
  return { own: load + invoke, whole };
}

function compareSizes({ start, ours, alone }: Bundles['pairs'][number]): Figure {
  const size = (folder: string) => statSync(join(folder, 'index.js')).size / 1_024;
  return compare(
    {
      what: `${start.name}, size`,
      against: start.against ? `${start.against} alone` : 'an empty bundle',
      unit: 'KiB',
    },
    [size(ours)],
    [size(alone)],
  );
}

function checkAuthorizer(): Check {
  const packages = packagesOf('lambda/authorize-request/handler.ts');
  const sdk = packages.filter((name) => /^@(aws-sdk|smithy)\//.test(name));
  return {
    what: 'the authorizer has no SDK in its bundle',
    holds: sdk.length === 0,
    detail: sdk.length === 0 ? `its packages: ${packages.join(', ')}` : sdk.join(', '),
  };
}
