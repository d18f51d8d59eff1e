import { appendFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { childrenOf } from '../../../local/processes';
import { openLocalDatabase } from '../../support/local-database';
import { type FaultKind, signalProcess } from './kind';
import type { TroubledPlace, World } from './world';

const open = ({ local }: World, { name }: TroubledPlace) => openLocalDatabase(local.stateDirectory, name);

const ofOneDatabase = { reach: 'one', troublesDeletions: true } as const;
const filler = 'filler';

/** Faults of one environment's PostgreSQL. */
export const databaseFaults: readonly FaultKind[] = [
  {
    // Its main process, with or without the others, by SIGKILL. `restarting.ts` starts it again.
    name: 'database-killed',
    ...ofOneDatabase,
    lasts: [0, 1_000],
    async begin(world, place, random) {
      const { pid, close } = await open(world, place);
      const others = random() < 0.5 ? childrenOf(pid) : [];
      for (const each of [pid, ...others]) signalProcess(each, 'SIGKILL');
      await close();
      return async () => undefined;
    },
  },
  {
    // All of its processes stand still, as on a machine that stalls.
    name: 'database-frozen',
    ...ofOneDatabase,
    lasts: [2_000, 12_000],
    async begin(world, place) {
      const { pid, close } = await open(world, place);
      await close();
      const all = [pid, ...childrenOf(pid)];
      for (const each of all) signalProcess(each, 'SIGSTOP');
      return async () => {
        for (const each of all) signalProcess(each, 'SIGCONT');
      };
    },
  },
  {
    // The tables that requests and deliveries need are locked.
    name: 'database-slow',
    ...ofOneDatabase,
    lasts: [2_000, 12_000],
    async begin(world, place) {
      const { client, close } = await open(world, place);
      await client.query('begin; lock table user_groups, webhooks in access exclusive mode');
      return async () => {
        await client.query('rollback');
        await close();
      };
    },
  },
  {
    // Every connection that it allows is taken, those of the functions too.
    name: 'connections-exhausted',
    ...ofOneDatabase,
    lasts: [2_000, 6_000],
    async begin(world, place) {
      const { client, close } = await open(world, place);
      const taken: Client[] = [];
      const takeAll = async () => {
        while (await connect(client).then((another) => taken.push(another), isRefused));
      };
      await takeAll();
      // A function that asks in the wrong moment gets the place of one that was ended.
      for (let ended = 1; ended > 0; await takeAll()) ended = await endOthers(client);
      return async () => {
        await Promise.all([close(), ...taken.map((each) => each.end())]);
      };
    },
  },
  {
    // Its disk has no room; its log cannot go on, so that it ends, and cannot start until there is room again.
    name: 'disk-full',
    ...ofOneDatabase,
    lasts: [2_000, 6_000],
    impossible: ({ noDisks }) => noDisks,
    async begin(world, place) {
      const file = join(world.disks.get(place.name) ?? '', filler);
      const { client, close } = await open(world, place);
      await fill(file);
      try {
        for (let segment = 0; segment < 20; segment += 1) {
          await client.query(`select pg_switch_wal() from pg_logical_emit_message(false, 'faults', 'x')`);
        }
      } catch {
        // It has found its disk full.
      }
      await close().catch(() => undefined);
      return () => rm(file);
    },
  },
];

async function connect({ host, port, user, password, database }: Client): Promise<Client> {
  const another = new Client({ host, port, user, password, database });
  another.on('error', () => undefined);
  await another.connect();
  return another;
}

const isRefused = (error: { readonly code?: string }): false => {
  if (error.code !== '53300') throw error;
  return false;
};

/** Ends the connections of all but the superuser, and says how many. */
async function endOthers(client: Client): Promise<number> {
  const { rowCount } = await client.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and usename <> user",
  );
  return rowCount ?? 0;
}

const mebibyte = Buffer.alloc(2 ** 20);

async function fill(file: string): Promise<void> {
  try {
    for (;;) await appendFile(file, mebibyte);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
