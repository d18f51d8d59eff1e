import { Cleanup } from '../../local/cleanup';
import { startEnvironments } from '../runs/environments';
import { type Answer, dueDeletion, openTokenMaker, send, type TokenMaker } from '../support/api';
import { type LocalDatabase, openLocalDatabase } from '../support/local-database';
import type { LocalEnvironment } from '../support/local-environment';
import type { Organization } from '../support/organization';
import { oneOfEachAccess } from '../support/rows';

jest.setTimeout(90_000);

const cleanup = new Cleanup();
let local: LocalEnvironment;

beforeAll(async () => {
  const names = oneOfEachAccess.map(({ name }) => name);
  ({ local } = await startEnvironments(cleanup, names, new AbortController().signal));
});
afterAll(() => cleanup.run());

describe.each(oneOfEachAccess)('in $name, by $databaseAccess access', ({ name, tokenIssuer }) => {
  let tokens: TokenMaker;
  let organization: Organization;
  let database: LocalDatabase;
  beforeAll(async () => {
    tokens = await openTokenMaker(local, name, tokenIssuer);
  });
  beforeEach(async () => {
    organization = await local.walletJson<Organization>(name, 'seed');
    database = await openLocalDatabase(local.stateDirectory, name);
  });
  afterEach(() => database.close());

  const attempt = async (): Promise<Answer> =>
    send(local.outputs(name).ApiBaseUrl ?? '', await dueDeletion(tokens, organization));

  it('503 while the database does not answer, and 200 when it does again', async () => {
    await database.client.query('begin; lock table user_groups in access exclusive mode');
    expect(await attempt()).toMatchObject({
      status: 503,
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
      body: { code: 'database_unavailable' },
    });
    await database.client.query('rollback');
    expect((await attempt()).status).toBe(200);
  });

  it('200 at the next request after the server ended its connections', async () => {
    await attempt();
    const { rows } = await database.client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'delete_user_group'",
    );
    expect(rows.length).toBeGreaterThan(0);
    organization = await local.walletJson<Organization>(name, 'seed');
    expect((await attempt()).status).toBe(200);
  });
});
