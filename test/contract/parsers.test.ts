import fc from 'fast-check';
import { Client } from 'pg';
import { newEventId, parseEvent, writeEvent } from '../../domain/event';
import { newId } from '../../domain/ids';
import { asDoubles, jsonText } from '../support/json-texts';
import { useMigratedDatabase } from '../support/region-database';

const region = useMigratedDatabase();
const ids = { id: newEventId(), organizationId: newId('or'), kind: 'a' };

// Those of Python, Go, Ruby and PHP are in test/tools/parsers.tool.ts.
it('Node.js and PostgreSQL refuse no event that is accepted, and read the same doubles', async () => {
  const client = new Client({ ...region.postgres, user: region.postgres.superuser });
  await client.connect();
  const counts = { accepted: 0, refused: 0 };
  try {
    await fc.assert(
      fc.asyncProperty(jsonText, async (data) => {
        const text = writeEvent({ ...ids, data });
        const isAccepted = parseEvent(text).ok;
        counts[isAccepted ? 'accepted' : 'refused'] += 1;
        if (!isAccepted) return;
        const { rows } = await client.query('select $1::jsonb::text as text', [text]);
        expect(asDoubles(rows[0].text)).toEqual(asDoubles(text));
      }),
      { numRuns: 500 },
    );
    for (const data of [String.raw`"\u0000"`, String.raw`{"\u0000":1}`, '0e-16384', '0e9999999999']) {
      const text = writeEvent({ ...ids, data });
      expect(parseEvent(text).ok).toBe(false);
      await expect(client.query('select $1::jsonb', [text])).rejects.toThrow();
    }
  } finally {
    await client.end();
  }
  expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(75);
});
