import { appendFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { childrenOf } from '../../../lib/local/processes';
import { databaseOf, type FaultKind, inEach, signalProcess } from './kind';

/** Its main process, with or without the others, by SIGKILL. It is started again by `npm start`. */
export const databaseKilled: FaultKind = {
  name: 'database-killed',
  reach: 'one',
  troublesDeletions: true,
  lasts: [0, 1_000],
  begin: (world, places, random) =>
    inEach(places, async (place) => {
      const { pid, close } = await databaseOf(world, place);
      const others = random() < 0.5 ? childrenOf(pid) : [];
      for (const each of [pid, ...others]) signalProcess(each, 'SIGKILL');
      await close();
      return async () => undefined;
    }),
};

/** All of its processes stand still, as on a machine that stalls. */
export const databaseFrozen: FaultKind = {
  name: 'database-frozen',
  reach: 'one',
  troublesDeletions: true,
  lasts: [2_000, 12_000],
  begin: (world, places) =>
    inEach(places, async (place) => {
      const { pid, close } = await databaseOf(world, place);
      await close();
      const all = [pid, ...childrenOf(pid)];
      for (const each of all) signalProcess(each, 'SIGSTOP');
      return async () => {
        for (const each of all) signalProcess(each, 'SIGCONT');
      };
    }),
};

/** The tables that requests and deliveries need are locked. */
export const databaseSlow: FaultKind = {
  name: 'database-slow',
  reach: 'one',
  troublesDeletions: true,
  lasts: [2_000, 12_000],
  begin: (world, places) =>
    inEach(places, async (place) => {
      const { client, close } = await databaseOf(world, place);
      await client.query('begin; lock table user_groups, webhooks in access exclusive mode');
      return async () => {
        await client.query('rollback');
        await close();
      };
    }),
};

/** Every connection that it allows is taken, those of the functions too. */
export const connectionsExhausted: FaultKind = {
  name: 'connections-exhausted',
  reach: 'one',
  troublesDeletions: true,
  lasts: [2_000, 6_000],
  begin: (world, places) =>
    inEach(places, async (place) => {
      const { client, close } = await databaseOf(world, place);
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
    }),
};

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

const filler = 'filler';
const mebibyte = Buffer.alloc(2 ** 20);

/** Its disk has no room; its log cannot go on, so that it ends, and cannot start until there is room again. */
export const diskFull: FaultKind = {
  name: 'disk-full',
  reach: 'one',
  troublesDeletions: true,
  lasts: [2_000, 6_000],
  impossible: ({ environments }) => environments.noDisks,
  begin: (world, places) =>
    inEach(places, async (place) => {
      const disk = world.environments.diskOf(place.name) ?? '';
      const { client, close } = await databaseOf(world, place);
      await fill(join(disk, filler));
      try {
        for (let segment = 0; segment < 20; segment += 1) {
          await client.query(`select pg_switch_wal() from pg_logical_emit_message(false, 'faults', 'x')`);
        }
      } catch {
        // It has found its disk full.
      }
      await close().catch(() => undefined);
      return () => rm(join(disk, filler));
    }),
};

async function fill(file: string): Promise<void> {
  try {
    for (;;) await appendFile(file, mebibyte);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
