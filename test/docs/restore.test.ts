import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { routes } from '../../domain/routes';
import { projectRoot } from '../architecture/sources';
import { type RegionDatabase, startRegionDatabase } from '../support/region-database';
import { first } from '../support/rows';
import { stackOf } from '../support/stacks';

const page = readFileSync(join(projectRoot, 'docs/runbook/emergencies.md'), 'utf8');
const [, section = ''] = /\n## Restore to a point in time\n([\s\S]*?)\n## /.exec(page) ?? [];
const found = (pattern: RegExp) => Array.from(section.matchAll(pattern), ([, text = '']) => text);
const stack = stackOf(first);

it('throttles each method with settings of its own, but for the check of our own webhooks', () => {
  const { MethodSettings } = stack.named('AWS::ApiGateway::Stage', 'Api').Properties;
  type Setting = Readonly<Record<'ResourcePath' | 'HttpMethod', string>>;
  const ofCheck = `/${routes.checkDelivery.path.replaceAll('/', '~1')}/POST`;
  const methods = MethodSettings.map(
    ({ ResourcePath, HttpMethod }: Setting) => `${ResourcePath}/${HttpMethod}`,
  );
  expect(methods).toContain(ofCheck);
  for (const limit of ['rateLimit', 'burstLimit'])
    expect(found(new RegExp(`path='?(/[^,']*)/throttling/${limit}`, 'g')).sort()).toEqual(
      methods.filter((method: string) => method !== ofCheck).sort(),
    );
});

it('closes the one function that preflight finds by its logical id', () => {
  const { logicalId } = stack.named('AWS::Lambda::Function', 'DeleteUserGroup');
  expect(logicalId).toMatch(/^DeleteUserGroup[0-9A-F]{8}$/);
  expect(section).toContain('`DeleteUserGroup…`');
});

describe("the service's other parts", () => {
  let region: RegionDatabase;
  beforeAll(async () => {
    region = await startRegionDatabase('data-api');
    await region.migrate();
  });
  afterAll(() => region.stop());

  const signIn = async (user: string) => {
    const { host, port, database } = region.postgres;
    const client = new Client({ host, port, user, password: 'secret', database });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };

  it('are shut out, an open session too, and let in again', async () => {
    const { superuser, password, ...server } = region.postgres;
    const administrator = new Client({ ...server, user: superuser, password });
    await administrator.connect();
    // An owner as on Aurora: no superuser, signals others, and a member of what it created.
    await administrator.query(`
      create role wallet_owner login createrole password 'secret';
      grant pg_signal_backend to wallet_owner;
      grant directory to wallet_owner with admin true, inherit false, set false;
      alter database ${server.database} owner to wallet_owner;
      create role accounts login password 'secret';
      grant directory to accounts`);
    await administrator.end();
    const [owner, accounts] = [await signIn('wallet_owner'), await signIn('accounts')];
    const statements = found(/`((?:revoke|select|grant) [^`]+)`/g).map((each) =>
      each.replace('database wallet', `database ${server.database}`),
    );
    expect(statements.map((each) => each.split(' ')[0])).toEqual(['revoke', 'select', 'grant']);
    const [revoke = '', end = '', grant = ''] = statements;

    await owner.query(revoke);
    await expect(signIn('accounts')).rejects.toMatchObject({ code: '42501' });
    expect((await accounts.query('select 1 from organizations')).rowCount).toBe(0);
    expect((await owner.query(end)).rows).toEqual([{ pg_terminate_backend: true }]);
    await expect(accounts.query('select 1 from organizations')).rejects.toThrow();

    await owner.query(grant);
    await (await signIn('accounts')).end();
    await owner.end();
  });
});
