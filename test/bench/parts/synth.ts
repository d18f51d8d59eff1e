import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { readAssembly } from '../../../lib/local/template/assembly';
import { synthesize } from '../../../lib/local/template/synthesis';
import { compare, type Figure, type PartOptions, type PartResult, samplesFor } from '../figures';
import { interleave, type TakeSample, time } from '../interleave';

const projectRoot = resolve(__dirname, '../../..');
const run = promisify(execFile);

/** Parts of a synthesis as `functions/synthesis-parts.ts` prints them, in milliseconds. */
type Parts = Readonly<Record<string, number>>;

const partNames: Readonly<Record<string, string>> = {
  loading: 'loading the library and the code',
  bundling: 'bundling the handlers',
  constructs: 'making the constructs',
  templates: 'writing the templates',
  validation: "validation by CloudFormation's rules",
  rules: 'three rule packs',
  residency: 'residency rules',
};

/** `cdk synth` of all stacks against that of an empty app, and what of it takes how long. */
export async function measureSynthesis(options: PartOptions): Promise<PartResult> {
  // Temporary files lie there too: a synthesis that Ctrl-C ends cannot remove its own.
  const directory = await mkdtemp(join(tmpdir(), 'wallet-bench-'));
  try {
    await synthesize(join(directory, 'assembly'), options.signal);
    const stacks = readAssembly(join(directory, 'assembly')).length;
    const synth =
      (app: string): TakeSample =>
      () =>
        time(() =>
          run('npx', ['cdk', 'synth', '--quiet', '--app', app, '--output', join(directory, 'out')], {
            cwd: projectRoot,
            env: { ...process.env, TMPDIR: directory, BENCH_STACKS: String(stacks) },
          }),
        );
    const rounds = { samples: samplesFor(options, 10), warmUp: 1, signal: options.signal };
    options.onProgress(`${rounds.samples} rounds of cdk synth, ${stacks} stacks`);
    const taken = await interleave(
      { ours: synth('tsx bin/app.ts'), empty: synth('tsx test/bench/functions/empty-app.ts') },
      rounds,
    );
    const whole = compare(
      {
        what: `cdk synth, ${stacks} stacks`,
        against: `empty app of ${stacks} stacks`,
        unit: 'ms',
        goal: { bound: 'at most', ratio: 2 },
      },
      taken.ours,
      taken.empty,
    );
    return { figures: [whole, ...(await measureParts(directory, taken.ours, options))] };
  } finally {
    await rm(directory, { recursive: true, maxRetries: 5 });
  }
}

async function measureParts(
  directory: string,
  whole: readonly number[],
  options: PartOptions,
): Promise<Figure[]> {
  const samples: Parts[] = [];
  const count = samplesFor(options, 10);
  options.onProgress(`${count} times its parts`);
  for (let sample = 0; sample < count; sample += 1) {
    options.signal.throwIfAborted();
    const { stdout } = await run('npx', ['tsx', 'test/bench/functions/synthesis-parts.ts'], {
      cwd: projectRoot,
      env: { ...process.env, TMPDIR: directory, CDK_OUTDIR: join(directory, 'parts') },
    });
    samples.push(JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Parts);
  }
  return Object.entries(partNames).map(([part, name]) =>
    compare(
      { what: `of it: ${name}`, against: 'the whole', unit: 'ms' },
      samples.map((parts) => parts[part] ?? Number.NaN),
      whole,
    ),
  );
}
