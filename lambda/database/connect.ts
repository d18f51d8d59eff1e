import type { ClosableDatabase, Database, Owner } from './database';

/*
 * Both adapters, loaded on demand, for code that may need either, such as tests. A deployed bundle contains either
 * `connect.data-api.ts` or `connect.direct.ts` instead: see `bundlingFor` in `lib/functions/bundles.ts`.
 */

interface Adapter {
  connectDatabase(variables: NodeJS.ProcessEnv, waiting?: { readonly resumeTimeout: number }): Database;
  connectAsOwner(variables: NodeJS.ProcessEnv, owner: Owner): Promise<ClosableDatabase>;
}

/** @throws Error if `DATABASE_ACCESS` is unknown. */
function adapterFor({ DATABASE_ACCESS: access }: NodeJS.ProcessEnv): Adapter {
  if (access === 'data-api') return require('./data-api');
  if (access === 'direct') return require('./direct');
  throw new Error(`DATABASE_ACCESS is '${access}': it must be 'data-api' or 'direct'.`);
}

/** The region's database, as the role of the function's variables. @param waiting milliseconds for a paused cluster */
export const connectDatabase: Adapter['connectDatabase'] = (variables, waiting) =>
  adapterFor(variables).connectDatabase(variables, waiting);

/** The region's database, signed in as its owner. */
export const connectAsOwner: Adapter['connectAsOwner'] = (variables, owner) =>
  adapterFor(variables).connectAsOwner(variables, owner);
