import { readFileSync } from 'node:fs';
import { ExecuteStatementCommand, RDSDataClient } from '@aws-sdk/client-rds-data';
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQS } from '@aws-sdk/client-sqs';
import { Client, type Pool } from 'pg';
import { newId } from '../../domain/ids';
import { readSource } from '../architecture/sources';
import { localClient } from '../support/aws-client';
import { codeUnder, load } from '../support/documents';
import { localEnvironment } from '../support/local-environment';
import type { Organization } from '../support/organization';
import { openLocalDatabase } from '../support/postgres';
import { running } from '../support/rows';
import { useShared } from '../support/use-shared';
import { startWebhookReceiver } from '../support/webhook-receiver';

const integrating = 'docs/integrating.md';
const [withDataApi, withDirectAccess] = running;
const local = useShared(localEnvironment);
const clientOf = (service: string) => localClient(local.endpoints[service] ?? '');
const secret = { username: 'accounts', password: 'only-for-this-test' };

/** As the database's owner, who is no superuser, makes the role. */
async function makeRole(environment: string, signIn: string) {
  const { client, close } = await openLocalDatabase(local.stateDirectory, environment);
  const made = codeUnder(integrating, 'Sign in')[0] ?? '';
  for (const sql of ['set role wallet_owner', made, signIn]) await client.query(sql);
  await close();
}

it('a role of its own writes and reads a row over the Data API, reaches no webhooks, and is shut out by a restore, its sessions too', async () => {
  const { name } = withDataApi;
  await makeRole(name, `alter role accounts password '${secret.password}'`);
  const SecretString = JSON.stringify(secret);
  const secrets = new SecretsManagerClient(clientOf('secretsmanager'));
  const created = await secrets.send(new CreateSecretCommand({ Name: newId('as'), SecretString }));
  const resourceArn = local.outputs(name).DatabaseClusterArn;
  const client = new RDSDataClient(clientOf('rds-data'));
  const database = { resourceArn, secretArn: created.ARN, database: 'wallet' };
  const run = (sql: string) => client.send(new ExecuteStatementCommand({ ...database, sql }));
  const id = newId('or');
  await run(`insert into organizations (organization_id) values ('${id}')`);
  const read = run(`select organization_id from organizations where organization_id = '${id}'`);
  expect(await read).toMatchObject({ records: [[{ stringValue: id }]] });
  await expect(run('select url from webhooks')).rejects.toThrow('permission denied for table webhooks');

  const page = readSource('docs/runbook/emergencies.md');
  const [, section = ''] = /\n## Restore to a point in time\n([\s\S]*?)\n## /.exec(page) ?? [];
  const statementOf = (word: string) => new RegExp(`\`(${word} [^\`]+)\``).exec(section)?.[1] ?? '';

  const { client: owner, close } = await openLocalDatabase(local.stateDirectory, name);
  const signIn = async () => {
    const { host, port, database } = owner;
    const client = new Client({ host, port, database, user: secret.username, password: secret.password });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };
  // As on Aurora.
  await owner.query('grant pg_signal_backend to rds_superuser; set role wallet_owner');
  const session = await signIn();
  try {
    await owner.query(statementOf('revoke'));
    await expect(signIn()).rejects.toMatchObject({ code: '42501' });
    await session.query('select from organizations');
    expect((await owner.query(statementOf('select'))).rows).toContainEqual({ pg_terminate_backend: true });
    await expect(session.query('select from organizations')).rejects.toThrow();
  } finally {
    await owner.query(statementOf('grant'));
  }
  await (await signIn()).end();
  await close();
});

it('the code for IAM writes and reads too, with direct access', async () => {
  const [code = ''] = codeUnder(integrating, 'With IAM');
  const { connect } = load<{ connect(location: object, ca: string): Pool }>(code);
  const { name, region } = withDirectAccess;
  await makeRole(name, 'grant rds_iam to accounts');
  const url = new URL(local.endpoints[`database-${name}`] ?? '');
  const ca = readFileSync(url.searchParams.get('sslrootcert') ?? '', 'utf8');
  const { credentials } = clientOf('kms');
  const { hostname, port } = url;
  const pool = connect({ hostname, port: Number(port), region, username: 'accounts', credentials }, ca);
  try {
    const id = newId('or');
    await pool.query('insert into organizations (organization_id) values ($1)', [id]);
    const { rowCount } = await pool.query('select from organizations where organization_id = $1', [id]);
    expect(rowCount).toBe(1);
  } finally {
    await pool.end();
  }
});

it('the code for producers sends events, and returns those that the queue refuses', async () => {
  type Send = (sqs: SQS, url: string, events: readonly object[]) => Promise<object[]>;
  const { sendEvents } = load<{ sendEvents: Send }>(codeUnder('docs/events.md', 'Send it')[0] ?? '');
  const receiver = await startWebhookReceiver();
  try {
    const { organizationId } = await local.walletJson<Organization>(withDataApi.name, 'seed');
    const url = receiver.url(organizationId);
    await local.wallet(withDataApi.name, 'webhook', 'add', '--organization', organizationId, '--url', url);
    const both = { organizationId, kind: 'wallet.created', date: new Date().toISOString() };
    const events = ['one', 'two'].map((id) => ({ id: `${organizationId}_${id}`, ...both, data: { id } }));
    const invalid = { organizationId, data: '\ufffe' };
    const queue = local.outputs(withDataApi.name).WebhookEventsQueueUrl ?? '';
    const rejected = await sendEvents(new SQS(clientOf('sqs')), queue, [...events, invalid]);
    expect(rejected).toEqual([{ event: invalid, isInvalid: true }]);
    const received = await receiver.received(organizationId, 2);
    expect(received.map(({ body }) => body).sort()).toEqual(events.map((event) => JSON.stringify(event)));
  } finally {
    await receiver.stop();
  }
});
