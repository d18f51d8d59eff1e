import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { readAssembly } from '../../../../local/assembly/manifest';
import { synthesize } from '../../../../local/assembly/synthesis';
import { atMost, compare, type PartOptions, type PartResult, roundsOf } from '../figures';
import { interleave, time } from '../interleave';

/** Parts of a synthesis as `functions/synthesis-parts.ts` names them. */
const partNames: Readonly<Record<string, string>> = {
  loading: 'loading the CDK and the code',
  bundling: 'bundling the handlers',
  constructs: 'making the constructs',
  templates: 'writing the templates',
  validation: "validation by CloudFormation's rules",
  rules: 'three rule packs',
  residency: 'residency rules',
};

/** `cdk synth` of all stacks against that of an empty app, and what of it takes how long. */
export async function measureSynthesis(options: PartOptions): Promise<PartResult> {
  const { directory, progress } = options;
  await synthesize(join(directory, 'assembly'), options.signal);
  const stacks = readAssembly(join(directory, 'assembly')).length;
  const run = (...args: string[]) =>
    promisify(execFile)('npx', args, {
      cwd: resolve(__dirname, '../../../..'),
      env: {
        ...process.env,
        // Here, because a synthesis that Ctrl-C ends cannot remove its own temporary files.
        TMPDIR: directory,
        BENCH_STACKS: String(stacks),
        CDK_OUTDIR: join(directory, 'parts'),
      },
    });
  const output = ['--output', join(directory, 'out')];
  const synth = (app: string) => () => time(() => run('cdk', 'synth', '--quiet', '--app', app, ...output));
  const rounds = roundsOf(options, 10, 1);
  progress(`${rounds.samples} rounds of cdk synth, ${stacks} stacks`);
  const whole = await interleave(
    { ours: synth('tsx bin/app.ts'), empty: synth('tsx test/runs/bench/functions/empty-app.ts') },
    rounds,
  );
  progress(`${rounds.samples} times its parts`);
  const { parts } = await interleave(
    {
      parts: async () => {
        const { stdout } = await run('tsx', 'test/runs/bench/functions/synthesis-parts.ts');
        return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Readonly<Record<string, number>>;
      },
    },
    { ...rounds, warmUp: 0 },
  );
  const against = `empty app of ${stacks} stacks`;
  return {
    figures: [
      compare({ what: `cdk synth, ${stacks} stacks`, against, goal: atMost(2) }, whole.ours, whole.empty),
      ...Object.entries(partNames).map(([part, name]) =>
        compare(
          { what: `of it: ${name}`, against: 'the whole' },
          parts.map((sample) => sample[part] ?? Number.NaN),
          whole.ours,
        ),
      ),
    ],
  };
}
