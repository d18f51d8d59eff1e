import { sql } from '../../../lambda/database/database';
import { createDirectDatabase } from '../../../lambda/database/direct';
import { startDatabaseEndpoint } from '../../../local/postgres/endpoint';
import { createAuthority } from '../../support/certificates';
import { startMigratedDatabase } from '../../support/region-database';

const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };

it('trusts only chains to the configured root certificates, not to those of another region', async () => {
  const [root, elsewhere] = await Promise.all(
    ['me-central-1', 'me-south-1'].map((region) =>
      createAuthority(`Amazon RDS ${region} Root CA RSA2048 G1`),
    ),
  );
  const subordinate = await createAuthority('Amazon RDS me-central-1 Subordinate CA RSA2048 G1.A.1', root);
  const { key, cert } = await subordinate.issue({ name: 'localhost' });
  const region = await startMigratedDatabase('direct');
  const { postgres } = region;
  const certificate = { key, cert: `${cert}\n${subordinate.cert}` };
  const endpoint = await startDatabaseEndpoint({
    postgres,
    certificate,
    region: 'me-central-1',
    findAccessKey: () => credentials,
  });
  const trusting = (certificateAuthorities: string) =>
    createDirectDatabase({
      host: endpoint.host,
      port: endpoint.port,
      database: postgres.database,
      user: postgres.superuser,
      password: () => postgres.password,
      certificateAuthorities,
    });
  const [trusted, untrusted] = [trusting(root?.cert ?? ''), trusting(elsewhere?.cert ?? '')];
  try {
    expect(await trusted.execute(sql`select 1 as one`)).toEqual({ ok: true, value: [{ one: 1 }] });
    await expect(untrusted.execute(sql`select 1`)).rejects.toThrow(/certificate/);
  } finally {
    await Promise.all([trusted.close(), untrusted.close()]);
    await endpoint.close();
    await region.stop();
  }
});
