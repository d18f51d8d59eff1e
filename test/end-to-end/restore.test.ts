import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetQueueAttributesCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Environment } from '../../lib/environment/schema';
import { createApp } from '../../lib/environments-app';
import { readAssembly, type Stack } from '../../local/assembly/manifest';
import { removePostgres } from '../../local/postgres/postgres';
import { type Local, startLocal } from '../../local/start';
import { openState } from '../../local/state/lock';
import { send, walletDeletion } from '../support/api';
import { localClient } from '../support/aws-client';
import { type LocalEnvironment, openLocalEnvironment } from '../support/local-environment';
import type { Organization } from '../support/organization';
import { startInProcess } from '../support/own-environments';
import { copyNewCluster, copyWithOwners } from '../support/postgres';
import { restored as restoredRow, withDataApi } from '../support/rows';

const state = openState(mkdtempSync(join(tmpdir(), 'wallet-restore-')));
/** A row whose roles sign in with passwords, without a standby. */
const { standby: _, ...formerEnvironment }: Environment = withDataApi;
const { name, stackId, region } = formerEnvironment;
const snapshotArn = `arn:aws:rds:${region}:111122223333:cluster-snapshot:before-the-mistake`;
const folder = state.environment(name);
const former = folder.databaseDirectory;
const restored = `${former}-${snapshotArn.replace(/\W/g, '-')}`;
let running: Local | undefined;

/** The assemblies before and after the restore. */
const rows = {
  former: formerEnvironment,
  restored: restoredRow(formerEnvironment, { snapshot: snapshotArn }),
};
const assembly = (app: keyof typeof rows) => join(state.directory, app);

async function start(): Promise<LocalEnvironment> {
  const log = { step: () => undefined, problem: () => undefined };
  const options = { state, ports: 'any', log, runtime: startInProcess } as const;
  running = await startLocal({ ...options, assembly: assembly('former') });
  return openLocalEnvironment(state.directory);
}

async function stop(): Promise<void> {
  await running?.stop();
  running = undefined;
}

beforeAll(async () => {
  for (const app of ['former', 'restored'] as const)
    createApp({ outdir: assembly(app), environments: [rows[app]], validateTemplates: false }).synth();
  await copyNewCluster(former);
});
afterAll(async () => {
  await stop();
  for (const directory of [former, restored]) await removePostgres(directory);
  rmSync(state.directory, { recursive: true, force: true });
});

/** Sets a new password in each secret: the owner's and every role's. */
function changePasswords(): void {
  const secrets = readFileSync(folder.secretsFile, 'utf8');
  expect(secrets).toContain('\\"password\\":\\"');
  writeFileSync(folder.secretsFile, secrets.replaceAll('\\"password\\":\\"', '$&changed-'));
}

/** The third step of docs/runbook/planned-work.md, "Changing a database password". */
async function setPasswords(): Promise<void> {
  const ids = Object.keys(readAssembly(assembly('former'))[0]?.template.Resources ?? {});
  const id = ids.find((each) => /^SchemaMigrationMigrateSchema[0-9A-F]{8}$/.test(each));
  expect(await running?.invoke(`${stackId}-${id}`, { RequestType: 'Update' })).toMatchObject({ ok: true });
}

const deletion = async (local: LocalEnvironment, organization: Organization) =>
  (await send(local.outputs(name).ApiBaseUrl ?? '', await walletDeletion(local, name, organization))).status;

/** What callers, receivers and senders rely on, without ports, which are any free ones here. */
const identity = (local: LocalEnvironment) => {
  const { DatabaseClusterArn: _, ...outputs } = local.outputs(name);
  return [JSON.stringify(outputs).replace(/127\.0\.0\.1:\d+/g, ''), readdirSync(folder.keysDirectory).sort()];
};

it('a restore undoes a deletion, with changed passwords, and keeps messages', async () => {
  let local = await start();
  const organization = await local.walletJson<Organization>(name, 'seed');
  await stop();
  copyWithOwners(former, restored);

  changePasswords();
  local = await start();
  await setPasswords();
  expect(await deletion(local, organization)).toBe(200);
  expect(await deletion(local, organization)).toBe(404);
  const before = identity(local);
  const { DatabaseClusterArn: formerCluster } = local.outputs(name);
  const QueueUrl = local.outputs(name).WebhookEventsQueueUrl ?? '';
  const sqs = new SQSClient(localClient(local.endpoints.sqs ?? ''));
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'waits', DelaySeconds: 900 }));

  // As an edit of its row does while it runs.
  await running?.restart(readAssembly(assembly('restored'))[0] as Stack);
  local = openLocalEnvironment(state.directory);
  expect(identity(local)).toEqual(before);
  expect(local.outputs(name).DatabaseClusterArn).toMatch(new RegExp(`^${formerCluster}-[0-9a-f]{8}$`));
  expect(existsSync(join(former, 'cluster', 'data', 'PG_VERSION'))).toBe(true);

  // The group exists again, and the audit record of its deletion does not: it is newer than the restore.
  expect(await local.walletJson(name, 'audit', '--group', organization.userGroupId)).toEqual([]);
  expect(await deletion(local, organization)).toBe(200);
  await local.wallet(name, 'smoke');
  const AttributeNames = ['ApproximateNumberOfMessagesDelayed' as const];
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames }));
  expect(Attributes).toEqual({ ApproximateNumberOfMessagesDelayed: '1' });
  sqs.destroy();
});
