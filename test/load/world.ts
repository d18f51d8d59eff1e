import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../lib/environment/environment';
import type { Cleanup } from '../../lib/local/cleanup';
import { removePostgres } from '../../lib/local/postgres/postgres';
import { stateFolder } from '../../lib/local/state/state';
import { openTokenMaker } from '../support/api';
import { GroupStock } from '../support/group-stock';
import type { Organization } from '../support/organization';
import { startPreloadedEnvironments } from '../support/preloaded-environments';
import { MemoryWatch } from './memory';
import type { RequestsOptions } from './requests';

/** An environment under load. */
export interface Place extends RequestsOptions {
  readonly name: string;
  readonly baseUrl: string;
}

export interface World {
  readonly places: readonly Place[];
  readonly memory: MemoryWatch;
}

/** Starts the environments, with an organization in each; `cleanup` ends and removes them. */
export async function startWorld(
  cleanup: Cleanup,
  environments: readonly Environment[],
  random: () => number,
): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), 'wallet-load-'));
  cleanup.add(async () => {
    for (const { name } of environments) {
      await removePostgres(stateFolder(directory).environment(name).databaseDirectory);
    }
    await rm(directory, { recursive: true });
  });
  const control = join(directory, 'control');
  await mkdir(control);
  const { local } = await startPreloadedEnvironments(cleanup, {
    directory,
    environments,
    script: join(__dirname, 'inside', 'environment.cjs'),
    variables: { LOAD_CONTROL: control },
  });
  const places = await Promise.all(
    environments.map(async ({ name, tokenIssuer }): Promise<Place> => {
      const organization = await local.walletJson<Organization>(name, 'seed');
      return {
        name,
        baseUrl: local.outputs(name).ApiBaseUrl ?? '',
        groups: new GroupStock(directory, name, organization),
        tokens: await openTokenMaker(local, name, tokenIssuer),
        random,
      };
    }),
  );
  return { places, memory: new MemoryWatch(control) };
}
