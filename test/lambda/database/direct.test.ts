import { sql } from '../../../lambda/database/database';
import { createDirectDatabase } from '../../../lambda/database/direct';
import { startDatabaseEndpoint } from '../../../local/aws/rds/endpoint';
import { createAuthority } from '../../support/certificates';
import { sharedInRun } from '../../support/once-per-run';
import type { TestPostgres } from '../../support/postgres';

it('trusts only the configured root certificates, not those of another region', async () => {
  const postgres = await sharedInRun<TestPostgres>('postgres');
  const [authority, elsewhere] = [await createAuthority(), await createAuthority()];
  const endpoint = await startDatabaseEndpoint({
    postgres,
    certificate: await authority.issue({ name: 'localhost' }),
    region: 'me-central-1',
    findAccessKey: () => undefined,
  });
  const { host, port } = endpoint;
  const [trusting, distrusting] = [authority, elsewhere].map(({ cert: certificateAuthorities }) =>
    createDirectDatabase({
      ...{ host, port, database: 'postgres', user: postgres.superuser, certificateAuthorities },
      password: () => postgres.password,
    }),
  );
  try {
    expect(await trusting?.execute(sql`select 1 as one`)).toEqual({ ok: true, value: [{ one: 1 }] });
    await expect(distrusting?.execute(sql`select 1`)).rejects.toThrow(/certificate/);
  } finally {
    await Promise.all([trusting?.close(), distrusting?.close()]);
    await endpoint.close();
  }
});
