import type { Database } from '../../../lambda/database/database';
import { createHandler as createPurge } from '../../../lambda/purge-expired/handler';
import { recordLog } from '../../support/log';
import { startRegionDatabase } from '../../support/region-database';
import type { Figure, PartOptions } from './measure';

/** The last of many expired attempts against the first: no batch may read over what those before it deleted. */
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
  return [
    {
      what: `purge of the last ${batches * batchSize} of ${15 * batches * batchSize} rows`,
      against: 'the first',
      unit: '/s',
      goal: 0.7,
      value: rate(durations.slice(-batches)),
      baseline: rate(durations.slice(0, batches)),
    },
  ];
}
