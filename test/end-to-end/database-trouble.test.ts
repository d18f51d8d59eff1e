import { dueDeletion, openTokenMaker, send } from '../support/api';
import { openLocalDatabase } from '../support/local-database';
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

it.each(oneOfEachAccess)(
  '503 while the database of $name, by $databaseAccess access, does not respond, and 200 when it does again',
  async ({ name, tokenIssuer }) => {
    const tokens = await openTokenMaker(local, name, tokenIssuer);
    const organization = await local.walletJson<Organization>(name, 'seed');
    const attempt = async () =>
      send(local.outputs(name).ApiBaseUrl ?? '', await dueDeletion(tokens, organization));
    const { client, close } = await openLocalDatabase(local.stateDirectory, name);
    await client.query('begin; lock table user_groups in access exclusive mode');
    expect(await attempt()).toMatchObject({
      status: 503,
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
      body: { code: 'database_unavailable' },
    });
    await client.query('rollback');
    expect((await attempt()).status).toBe(200);
    await close();
  },
);
