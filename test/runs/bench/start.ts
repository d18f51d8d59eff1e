import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { environments } from '../../../lib/environments';
import { removePostgres } from '../../../local/postgres/postgres';
import { openLocalEnvironment } from '../../support/local-environment';
import { databaseDirectory } from '../../support/postgres';
import { startProject } from '../environments';
import { projectRoot } from '../long-run';
import { type Figure, interleave, type PartOptions } from './measure';

/** From `npm start` to its first line, and until a function in every environment has responded. */
export async function measureStart(options: PartOptions): Promise<Figure[]> {
  const state = join(options.directory, 'state');
  const clear = async () => {
    for (const { name } of environments) await removePostgres(databaseDirectory(state, name));
    await rm(state, { recursive: true, force: true });
  };
  options.cleanup.add(clear);
  const firstLine: number[] = [];

  async function start(): Promise<number> {
    const began = performance.now();
    const command = startProject(projectRoot, state, options);
    void once(command.process.stderr, 'data').then(() => firstLine.push(performance.now() - began));
    await command.ready();
    const { outputs } = openLocalEnvironment(state);
    for (const { name } of environments) {
      const url = `${outputs(name).ApiBaseUrl}/auth/user-groups/ug-aaaaa-aaaaa-aaaaaaaaaaaaaa`;
      const headers = { authorization: 'Bearer x.y.z' };
      const { status } = await fetch(url, { method: 'DELETE', headers });
      // From the authorizer function, not only the gateway.
      if (status !== 401) throw new Error(`Unexpected response: ${status}`);
    }
    const taken = performance.now() - began;
    await command.stop();
    return taken;
  }

  const { fresh, again } = await interleave({ fresh: () => clear().then(start), again: start }, 7, options);
  const limited = { against: 'the limit', unit: 'ms', goal: 1 } as const;
  return [
    { ...limited, what: 'first response, new state', value: fresh, baseline: [6_000] },
    { ...limited, what: 'first response, again', value: again, baseline: [1_500] },
    { ...limited, what: 'first line', value: firstLine, baseline: [500] },
  ];
}
