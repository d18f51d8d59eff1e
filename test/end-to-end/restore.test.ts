import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../lib/environment/environment';
import { removePostgres } from '../../local/postgres/postgres';
import { physicalName } from '../../local/resources/names';
import { prepareDatabase } from '../../local/restore';
import { type RunningEnvironments, startEnvironments } from '../../local/start';
import { claimStateFolder } from '../../local/state/claim';
import { readJson, stateFolder, writeJson } from '../../local/state/state';
import { send, walletDeletion } from '../support/api';
import { type LocalEnvironment, openLocalEnvironment } from '../support/local-environment';
import type { Organization } from '../support/organization';
import { copyNewCluster } from '../support/postgres';
import { formerEnvironment, restoredEnvironment, snapshotName } from '../support/restored-app';

const state = stateFolder(mkdtempSync(join(tmpdir(), 'wallet-restore-')));
const { name, stackId } = formerEnvironment;
const folder = state.environment(formerEnvironment);
const former = folder.databaseDirectory;
const restored = state.environment(restoredEnvironment).databaseDirectory;
const snapshot = join(state.snapshotsDirectory, snapshotName);
const steps: string[] = [];
let running: RunningEnvironments | undefined;

async function start(environment: Environment): Promise<LocalEnvironment> {
  running = await startEnvironments({
    state,
    environments: [environment],
    app: join(__dirname, `../support/${environment === formerEnvironment ? 'former' : 'restored'}-app.ts`),
    ports: { [name]: 0 },
    dashboardPorts: {},
    fresh: false,
    signal: new AbortController().signal,
    onStep: (step) => steps.push(step),
    onProblem: () => undefined,
  });
  return openLocalEnvironment(state.directory);
}

async function stop(): Promise<void> {
  await running?.stop();
  running = undefined;
}

beforeAll(async () => {
  claimStateFolder(state);
  await copyNewCluster(former);
});
afterAll(async () => {
  await stop();
  for (const directory of [former, restored, snapshot]) await removePostgres(directory);
  rmSync(state.directory, { recursive: true, force: true });
});

/** As an operator puts a new value into each secret with a password: the owner's and every role's. */
function changePasswords(): void {
  const secrets = readJson<Record<string, string>>(folder.secretsFile) ?? {};
  const changed = Object.entries(secrets).map(([id, text]) => {
    const value = JSON.parse(text);
    return [id, JSON.stringify({ ...value, password: `changed-${value.password}` })];
  });
  expect(changed.length).toBeGreaterThan(5);
  writeJson(folder.secretsFile, Object.fromEntries(changed));
}

/** The third step of docs/runbook.md, "Changing a database password". */
async function setPasswords(): Promise<void> {
  const { Resources } = JSON.parse(
    readFileSync(join(state.assemblyDirectory, `${stackId}.template.json`), 'utf8'),
  );
  const id = Object.keys(Resources).find((each) => /^SchemaMigrationMigrateSchema[0-9A-F]{8}$/.test(each));
  const stack = { name: stackId, region: formerEnvironment.region };
  const migration = running?.regions[0]?.functions.find(physicalName(stack, id ?? ''));
  expect(await migration?.invoke({ RequestType: 'Update' })).toMatchObject({ ok: true });
}

const deletion = async (local: LocalEnvironment, organization: Organization) =>
  (await send(local.outputs(name).ApiBaseUrl ?? '', await walletDeletion(local, name, organization))).status;

/** What callers, receivers and senders know an environment by: all but its ports, which are any free ones here. */
function identity(local: LocalEnvironment) {
  const { DatabaseClusterArn, ApiBaseUrl, DashboardUrl, ...outputs } = local.outputs(name);
  const port = /127\.0\.0\.1:\d+/g;
  return {
    cluster: DatabaseClusterArn,
    names: Object.keys(local.outputs(name)).sort(),
    outputs: JSON.parse(JSON.stringify(outputs).replace(port, '127.0.0.1')),
    keys: readdirSync(folder.keysDirectory).sort(),
  };
}

it('the drill: a deletion that nobody wanted is undone, with the passwords of today', async () => {
  let local = await start(formerEnvironment);
  const organization = await local.walletJson<Organization>(name, 'seed');
  await stop();
  mkdirSync(state.snapshotsDirectory);
  execFileSync('cp', ['-Rp', former, snapshot]);

  changePasswords();
  local = await start(formerEnvironment);
  await setPasswords();
  expect(await deletion(local, organization)).toBe(200);
  expect(await deletion(local, organization)).toBe(404);
  const before = identity(local);
  await stop();

  local = await start(restoredEnvironment);
  expect(steps).toContain(`Restored the database of ${name} from ${snapshot}`);
  const { cluster, ...after } = identity(local);
  expect(after).toEqual({ names: before.names, outputs: before.outputs, keys: before.keys });
  expect(cluster).toMatch(new RegExp(`^${before.cluster}-[0-9a-f]{8}$`));
  expect(existsSync(join(former, 'cluster', 'data', 'PG_VERSION'))).toBe(true);

  // The group is there again, and the audit knows of no deletion: that record was written later.
  expect(await local.walletJson(name, 'audit', '--group', organization.userGroupId)).toEqual([]);
  expect(await deletion(local, organization)).toBe(200);
  await local.wallet(name, 'smoke');
}, 180_000);

it('the data is restored once; without a copy it begins empty, and one of a running server is refused', async () => {
  const elsewhere = stateFolder(join(state.directory, 'elsewhere'));
  const said: string[] = [];
  const prepare = () => prepareDatabase(restoredEnvironment, elsewhere, (step) => said.push(step));
  const copy = join(elsewhere.snapshotsDirectory, snapshotName);
  expect(await prepare()).toBe(elsewhere.environment(restoredEnvironment).databaseDirectory);
  expect(said).toEqual([`There is no ${copy}: the restored database of ${name} begins empty`]);

  const data = join(copy, 'cluster', 'data');
  mkdirSync(data, { recursive: true });
  cpSync(__filename, join(data, 'postmaster.pid'));
  await expect(prepare()).rejects.toThrow(`${copy} was copied while PostgreSQL ran.`);

  rmSync(join(data, 'postmaster.pid'));
  const marker = join(await prepare(), 'cluster', 'written-since');
  writeFileSync(marker, '');
  await prepare();
  expect(existsSync(marker)).toBe(true);
});
