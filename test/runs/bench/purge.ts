import type { Database } from '../../../lambda/database/database';
import { createHandler as createPurge } from '../../../lambda/purge-expired/handler';
import { recordLog } from '../../support/log';
import { rows } from '../../support/organization';
import { startRegionDatabase } from '../../support/region-database';
import { type Figure, interleave, type PartOptions } from './measure';

/**
 * The last of many expired attempts against the first: no batch may read over what those before it deleted. Then new rows, with
 * the index of a delivery's requests and without.
 */
export async function measurePurge(options: PartOptions): Promise<Figure[]> {
  const { cleanup, effort } = options;
  const region = await startRegionDatabase('direct');
  cleanup.add(() => region.stop());
  await region.migrate();
  const batchSize = 1_000;
  const batches = Math.ceil(100 * effort);
  for (let batch = 0; batch < 15 * batches; batch++)
    await region.query`
      insert into webhook_attempts
        (event_id, webhook_id, delivery_id, number, attempted_at, duration_ms, status, outcome, reason)
      select 'ev-' || number, 'wh-' || number % 1000, 'msg_' || md5(number::text), 1,
        now() - interval '40 days' + number * interval '0.1 seconds', 100, 200, 'delivered', 'ok'
      from generate_series(${batch * batchSize}::integer, ${(batch + 1) * batchSize}::integer - 1) number`;
  await region.query`analyze webhook_attempts`;

  const database = region.as('purge_expired');
  const durations: number[] = [];
  const timed: Database = {
    async execute(statement) {
      const began = performance.now();
      const result = await database.execute(statement);
      const isBatch = result.ok && result.value[0]?.deleted === batchSize;
      if (isBatch) durations.push(performance.now() - began);
      return result;
    },
  };
  await createPurge({ database: timed, log: recordLog(), now: () => 0, batchSize })(undefined);
  if (durations.length !== 15 * batches) throw new Error(`${durations.length} batches were purged.`);
  const rate = (part: readonly number[]) => [
    (part.length * batchSize * 1_000) / part.reduce((sum, each) => sum + each, 0),
  ];

  await region.query`create table without_index (like webhook_attempts including all)`;
  await region.query`drop index without_index_delivery_id_series_number_idx`;
  const insert = (table: string) => async () => {
    const began = performance.now();
    // As a full batch of deliveries does.
    for (let statement = 0; statement < 20; statement++)
      await rows(region.owner, {
        text: [
          `insert into ${table} (event_id, webhook_id, delivery_id, number, attempted_at, duration_ms, outcome, reason)
          select 'ev-' || id, 'wh-' || number % 1000, 'msg_' || md5(id::text), 1, now(), 100, 'failed', 'timeout'
          from (select number, gen_random_uuid() as id from generate_series(1, 10) number) row`,
        ],
        values: [],
      });
    return 200_000 / (performance.now() - began);
  };
  const inserted = await interleave(
    { value: insert('webhook_attempts'), baseline: insert('without_index') },
    100,
    options,
  );
  return [
    {
      ...{ what: "attempts' rows, ten a statement", against: 'without the index of requests' },
      ...{ unit: '/s', goal: 0.7, ...inserted },
    },
    {
      what: `purge of the last ${batches * batchSize} of ${15 * batches * batchSize} rows`,
      ...{ against: 'the first', unit: '/s', goal: 0.7 },
      ...{ value: rate(durations.slice(-batches)), baseline: rate(durations.slice(0, batches)) },
    },
  ];
}
