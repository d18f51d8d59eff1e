import { execFile } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageFolders } from '../../../support/bundled-packages';
import type { Check } from '../../harness/checks';
import { bundle, synthesizeBundles } from '../../world/bundles';
import { clientsAlone } from '../clients-alone';
import { type ColdStart, prepareColdStarts } from '../cold-starts';
import { atMost, compare, type Figure, type PartOptions, type PartResult, roundsOf } from '../figures';
import { interleave, type TakeSample } from '../interleave';
import { lambdaRuntime, type NodeRuntime, ownRuntime } from '../node-runtime';

/** Milliseconds of one fresh process. */
interface Sample {
  /** Loading the bundle and the first invocation. */
  readonly own: number;
  /** Of that, the main thread's use of a processor, which other work on the machine hardly changes: from Node.js 24. */
  readonly processor: number | null;
  /** The whole process, Node.js's own start included. */
  readonly whole: number;
}

/** A cold start with the folders of its bundle and of one that only makes and uses the same clients. */
interface Pair {
  readonly start: ColdStart;
  readonly ours: string;
  readonly alone: string;
}

/** Loading and the first invocation of every bundle, in fresh processes. */
export async function measureColdStarts(options: PartOptions): Promise<PartResult> {
  const { directory, signal } = options;
  const deployed = await synthesizeBundles(join(directory, 'assembly'), signal);
  const starts = await prepareColdStarts(options);
  const unmeasured = Object.keys(deployed).filter((name) =>
    starts.every(({ useCase }) => useCase !== name.replace(/, direct$/, '')),
  );
  if (unmeasured.length > 0) {
    throw new Error(`test/runs/bench/cold-starts.ts has no row for: ${unmeasured.join(', ')}.`);
  }
  const empty = bundle(join(directory, 'empty'), { source: clientsAlone([]) });
  const pairs = starts.map((start) => ({
    start,
    ours: deployed[start.name] ?? '',
    // The clients as they come, without what a bundle of ours has instead of their parts.
    alone: bundle(
      join(directory, 'alone', start.name),
      { source: clientsAlone(start.calls, start.loaded) },
      { alias: {} },
    ),
  }));
  const figures: Figure[] = [];
  for (const runtime of await runtimes(options)) {
    figures.push(...(await measureWith(runtime, pairs, empty, options)));
  }
  return { figures: [...figures, ...pairs.map(compareSizes)], checks: [checkAuthorizer()] };
}

async function runtimes({ progress }: PartOptions): Promise<readonly NodeRuntime[]> {
  try {
    return [ownRuntime, await lambdaRuntime()];
  } catch (error) {
    progress(`Node.js 24 is not to be had from the registry: ${(error as Error).message}`);
    return [ownRuntime];
  }
}

async function measureWith(
  runtime: NodeRuntime,
  pairs: readonly Pair[],
  empty: string,
  options: PartOptions,
): Promise<Figure[]> {
  const sample =
    (folder: string, start: ColdStart, isOurs = false): TakeSample<Sample> =>
    async () => {
      const eventFile = join(options.directory, 'event.json');
      writeFileSync(eventFile, JSON.stringify(start.event()));
      const { answer, ...taken } = await coldStart(runtime, folder, eventFile, start.environment);
      if (isOurs && !start.isExpected(answer)) {
        throw new Error(`${start.name}: not as expected: ${JSON.stringify(answer)}`);
      }
      return taken;
    };
  const variants = Object.fromEntries(
    pairs.flatMap(({ start, ours, alone }) => [
      [`${start.name}, ours`, sample(ours, start, true)],
      [`${start.name}, alone`, sample(alone, start)],
      ['empty', sample(empty, start)],
    ]),
  );
  const rounds = roundsOf(options, 30, 2);
  const count = Object.keys(variants).length;
  options.progress(`Node.js ${runtime.version}: ${rounds.samples} rounds of ${count}`);
  const taken = await interleave<string, Sample>(variants, rounds);
  const of = (name: string, which: keyof Sample) => (taken[name] ?? []).flatMap((each) => each[which] ?? []);
  return pairs.flatMap(({ start }) => {
    const ours = `${start.name}, ours`;
    const what = `${start.name}, Node.js ${runtime.version}`;
    const wholeProcess = compare(
      { what: `${what}: whole process`, against: 'an empty bundle' },
      of(ours, 'whole'),
      of('empty', 'whole'),
    );
    if (!start.against) return [wholeProcess];
    const against = `${start.against} alone`;
    const alone = `${start.name}, alone`;
    const compareBy = (which: 'own' | 'processor', suffix = '') =>
      compare({ what: what + suffix, against, goal: atMost(1.15) }, of(ours, which), of(alone, which));
    const hasProcessor = of(ours, 'processor').length > 0;
    return [compareBy('own'), ...(hasProcessor ? [compareBy('processor', ': processor')] : []), wholeProcess];
  });
}

async function coldStart(
  runtime: NodeRuntime,
  folder: string,
  eventFile: string,
  env: ColdStart['environment'],
) {
  const runner = join(__dirname, '../functions/cold-start.cjs');
  const begin = performance.now();
  const { stdout } = await promisify(execFile)(runtime.program, [runner, folder, eventFile], {
    cwd: folder,
    env,
  });
  const whole = performance.now() - begin;
  const { load, invoke, processor, answer } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  return { own: load + invoke, processor, whole, answer };
}

function compareSizes({ start, ours, alone }: Pair): Figure {
  const size = (folder: string) => statSync(join(folder, 'index.js')).size / 1_024;
  const against = start.against ? `${start.against} alone` : 'an empty bundle';
  return compare({ what: `${start.name}, size`, against, unit: 'KiB' }, [size(ours)], [size(alone)]);
}

function checkAuthorizer(): Check {
  const packages = packageFolders(['lambda/authorize-request/handler.ts']).map((folder) =>
    folder.replace(/^.*node_modules\//, ''),
  );
  return {
    name: 'the authorizer has no SDK in its bundle',
    times: packages.length,
    violations: packages.filter((name) => /^@(aws-sdk|smithy)\//.test(name)),
  };
}
