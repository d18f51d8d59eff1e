import { ok, type Result } from '../../domain/result';
import type { Database, DatabaseUnavailable } from '../database/database';
import { sql } from '../database/sql';
import { coalesce } from '../shared/coalesce';
import type { SlotRequest, Slots } from './pace';

/**
 * The port on the region's database. Of each webhook it keeps the next free slot in two lines: of first attempts and of
 * repeated ones. In one line, what missed its slot would go behind all that wait. The requests of a batch share one
 * statement, whose clock is the database's.
 */
export function createSlots(database: Database): Slots {
  return { reserve: coalesce((requests) => reserveAll(database, requests)) };
}

async function reserveAll(
  database: Database,
  requests: readonly SlotRequest[],
): Promise<Result<number, DatabaseUnavailable>[]> {
  const offsets = new Map<SlotRequest, number>();
  const lines = new Map<string, { webhookId: string; repeated: boolean; ms: number }>();
  for (const request of [...requests].sort((a, b) => a.acceptedAt - b.acceptedAt)) {
    const { webhookId, repeated, lengthMs } = request;
    const { ms } = lines.get(lineOf(request)) ?? { ms: 0 };
    offsets.set(request, ms);
    lines.set(lineOf(request), { webhookId, repeated, ms: ms + lengthMs });
  }
  // In one order, or two batches could wait for each other's rows.
  const rows = await database.execute(sql`
    insert into delivery_slots as line (webhook_id, repeated, next_at)
    select "webhookId", repeated, now() + make_interval(secs => ms / 1000)
    from jsonb_to_recordset(${JSON.stringify([...lines.values()])}::jsonb) as wanted (
      "webhookId" text, repeated boolean, ms float8)
    where "webhookId" in (select webhook_id from webhooks)
    order by "webhookId", repeated
    on conflict (webhook_id, repeated) do update
      set next_at = greatest(line.next_at, now()) + (excluded.next_at - now())
    returning webhook_id, repeated, (extract(epoch from next_at - now()) * 1000)::float8 as ends_in`);
  if (!rows.ok) return requests.map(() => rows);
  const ends = new Map(
    rows.value.map((row): [string, number] => [
      lineOf({ webhookId: String(row.webhook_id), repeated: row.repeated === true }),
      Number(row.ends_in),
    ]),
  );
  return requests.map((request) => {
    const line = lineOf(request);
    const end = ends.get(line);
    // A webhook that was removed since it was found has no line, and nobody waits in it.
    if (end === undefined) return ok(0);
    const begin = end - (lines.get(line)?.ms ?? 0);
    return ok(Math.max(0, Math.round(begin + (offsets.get(request) ?? 0))));
  });
}

const lineOf = ({ webhookId, repeated }: Pick<SlotRequest, 'webhookId' | 'repeated'>) =>
  `${webhookId} ${repeated}`;
