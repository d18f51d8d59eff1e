import { type Answer, dueDeletion, openTokenMaker, send, type TokenMaker } from '../support/api';
import { type LocalDatabase, openLocalDatabase } from '../support/local-database';
import { type LocalEnvironment, openLocalEnvironment } from '../support/local-environment';
import type { Organization } from '../support/organization';
import { startOwnEnvironments } from '../support/own-environments';
import { oneOfEachAccess } from '../support/rows';

jest.setTimeout(90_000);

let local: LocalEnvironment;
let stop: () => Promise<void>;

beforeAll(async () => {
  const own = await startOwnEnvironments(oneOfEachAccess.map(({ name }) => name));
  ({ stop } = own);
  local = openLocalEnvironment(own.state.directory);
});
afterAll(() => stop?.());

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

  it('503 while the database does not respond, and 200 when it does again', async () => {
    await database.client.query('begin; lock table user_groups in access exclusive mode');
    expect(await attempt()).toMatchObject({
      status: 503,
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
      body: { code: 'database_unavailable' },
    });
    await database.client.query('rollback');
    expect((await attempt()).status).toBe(200);
  });

  it('200 for the first request after the server closed its connections', async () => {
    await attempt();
    const { rows } = await database.client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'delete_user_group'",
    );
    expect(rows.length).toBeGreaterThan(0);
    organization = await local.walletJson<Organization>(name, 'seed');
    expect((await attempt()).status).toBe(200);
  });
});
