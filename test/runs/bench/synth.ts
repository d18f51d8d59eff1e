import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { environments } from '../../../lib/environments';
import { projectRoot } from '../long-run';
import { type Figure, interleave, type PartOptions } from './measure';

/** `cdk synth` of all stacks against that of an empty app with as many. */
export async function measureSynthesis(options: PartOptions): Promise<Figure[]> {
  const { directory } = options;
  const stacks = environments.flatMap(({ standby }) => (standby ? [1, 1] : [1])).length;
  // An interrupted synthesis cannot remove its own temporary files.
  const env = { ...process.env, TMPDIR: directory, BENCH_STACKS: String(stacks) };
  const synth = (app: string) => () => {
    const args = ['cdk', 'synth', '--quiet', '--app', app, '--output', join(directory, 'out')];
    return promisify(execFile)('npx', args, { cwd: projectRoot, env });
  };
  const { value, baseline } = await interleave(
    { value: synth('tsx bin/app.ts'), baseline: synth('tsx test/runs/bench/empty-app.ts') },
    10,
    options,
  );
  const against = `an empty app of ${stacks} stacks`;
  return [{ what: 'cdk synth', unit: 'ms', against, value, baseline, goal: 2 }];
}
