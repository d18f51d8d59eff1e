import { Client } from 'pg';
import { seedOrganization } from '../../support/organization';
import { useMigratedDatabase } from '../../support/region-database';
import { copyRows, digests } from './copy-rows';

const [old, upgraded] = [useMigratedDatabase(), useMigratedDatabase()];
const clients: Client[] = [];

async function connect({ postgres }: typeof old): Promise<Client> {
  const { host, port, superuser: user, password, database } = postgres;
  const client = new Client({ host, port, user, password, database });
  await client.connect();
  clients.push(client);
  return client;
}
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.end()));
});

const audit = (subject: string) => `
  insert into audit_records (organization_id, identity_id, operation, subject_id, outcome, request_id, user_action_id)
  values ('or', 'id', 'op', '${subject}', 'deleted', 'request', '${subject}')`;

it('every row is there afterwards, nothing else is, and numbers go on where they were', async () => {
  await seedOrganization(old.owner);
  await seedOrganization(upgraded.owner);
  const [from, to] = [await connect(old), await connect(upgraded)];
  await from.query(audit('one'));
  await from.query(audit('two'));
  expect(await digests(to)).not.toEqual(await digests(from));
  await copyRows(from, to);
  expect(await digests(to)).toEqual(await digests(from));
  expect((await digests(from)).user_groups).toMatch(/^1 /);

  const { rows } = await to.query(`${audit('three')} returning audit_record_id`);
  expect(rows).toEqual([{ audit_record_id: '3' }]);
});

it('a table that is missing is an error, and leaves everything as it was', async () => {
  const [from, to] = [await connect(old), await connect(upgraded)];
  const before = await digests(to);
  await from.query('create table later (id integer primary key)');
  await expect(copyRows(from, to)).rejects.toThrow('relation "later" does not exist');
  expect(await digests(to)).toEqual(before);
});
