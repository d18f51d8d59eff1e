import type { Database, DatabaseUnavailable } from '../database/database';
import { sql } from '../database/sql';
import { coalesce } from '../shared/coalesce';
import { ok, type Result } from '../shared/result';
import { type Pace, pace, type SlotRequest, type Slots } from './pace';

/**
 * The port on the region's database. Of each webhook it keeps the next free slot in two lines: of first attempts and of
 * repeated ones. In one line, what missed its slot would go behind all that wait. The requests of a batch share one
 * statement, whose clock is the database's.
 */
export function createSlots(database: Database, { perSecond }: Pick<Pace, 'perSecond'> = pace): Slots {
  return { reserve: coalesce((requests) => reserveAll(database, requests, perSecond)) };
}

async function reserveAll(
  database: Database,
  requests: readonly SlotRequest[],
  perSecond: number,
): Promise<Result<number, DatabaseUnavailable>[]> {
  const lines = new Map<string, SlotRequest[]>();
  for (const request of [...requests].sort((a, b) => a.acceptedAt - b.acceptedAt)) {
    lines.set(lineOf(request), [...(lines.get(lineOf(request)) ?? []), request]);
  }
  const wanted = [...lines.values()].map((line) => ({
    webhookId: line[0]?.webhookId,
    repeated: line[0]?.repeated,
    seconds: line.length / perSecond,
  }));
  // In one order, or two batches could wait for each other's rows.
  const rows = await database.execute(sql`
    insert into delivery_slots as line (webhook_id, repeated, next_at)
    select "webhookId", repeated, now() + make_interval(secs => seconds)
    from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as wanted (
      "webhookId" text, repeated boolean, seconds float8)
    where "webhookId" in (select webhook_id from webhooks)
    order by "webhookId", repeated
    on conflict (webhook_id, repeated) do update
      set next_at = greatest(line.next_at, now()) + (excluded.next_at - now())
    returning webhook_id, repeated, (extract(epoch from next_at - now()) * 1000)::float8 as ends_in`);
  if (!rows.ok) return requests.map(() => rows);

  const waits = new Map<SlotRequest, number>();
  for (const { webhook_id: webhookId, repeated, ends_in: endsIn } of rows.value) {
    const line = lines.get(lineOf({ webhookId: String(webhookId), repeated: repeated === true })) ?? [];
    for (const [index, request] of line.entries()) {
      waits.set(request, Math.ceil(Number(endsIn) - ((line.length - index) * 1_000) / perSecond));
    }
  }
  // One that was removed since it was found has no line, and nobody waits in it.
  return requests.map((request) => ok(waits.get(request) ?? 0));
}

const lineOf = ({ webhookId, repeated }: Pick<SlotRequest, 'webhookId' | 'repeated'>) =>
  `${webhookId} ${repeated}`;
