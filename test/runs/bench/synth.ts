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
  const synth = (app: string) => async () => {
    await promisify(execFile)(
      'npx',
      ['cdk', 'synth', '--quiet', '--app', app, '--output', join(directory, 'out')],
      // An interrupted synthesis cannot remove its own temporary files.
      { cwd: projectRoot, env: { ...process.env, TMPDIR: directory, BENCH_STACKS: String(stacks) } },
    );
    return undefined;
  };
  const { ours, empty } = await interleave(
    { ours: synth('tsx bin/app.ts'), empty: synth('tsx test/runs/bench/empty-app.ts') },
    10,
    options,
  );
  const against = `an empty app of ${stacks} stacks`;
  return [{ what: 'cdk synth', against, value: ours, baseline: empty, atMost: 2 }];
}
