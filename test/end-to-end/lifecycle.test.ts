import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { removePostgres } from '../../local/postgres/postgres';
import { send as sendRequest, walletDeletion } from '../support/api';
import { eventually } from '../support/eventually';
import { isRunning, type LocalCommand, startLocalCommand } from '../support/local-command';
import { openLocalEnvironment } from '../support/local-environment';
import type { Organization } from '../support/organization';
import { databaseDirectory, openLocalDatabase } from '../support/postgres';
import { prepareAssembly } from '../support/prepared-state';
import { first } from '../support/rows';

// biome-ignore lint/suspicious/noExplicitAny: a part of a template
type Json = any;

const { name } = first;
const directory = mkdtempSync(join(tmpdir(), 'wallet-lifecycle-'));
const commands: LocalCommand[] = [];

/** Starts the first environment on a state folder. */
function startIn(state: string, offset: string): LocalCommand {
  const command = startLocalCommand('--environment', name, '--state', state, '--port-offset', offset);
  commands.push(command);
  return command;
}

const start = (offset: string) => startIn(directory, offset);

beforeAll(() => prepareAssembly(directory));
afterAll(async () => {
  for (const { process } of commands) process.kill('SIGKILL');
  await Promise.all(commands.map((command) => command.ended()));
  await removePostgres(databaseDirectory(directory, name));
  rmSync(directory, { recursive: true });
});

/** A permitted deletion, ready to be sent. */
async function permittedDeletion() {
  const local = openLocalEnvironment(directory);
  const seeded = await local.walletJson<Organization>(name, 'seed');
  const request = await walletDeletion(local, name, seeded);
  return { url: local.outputs(name).ApiBaseUrl ?? '', request };
}

const send = async ({ url, request }: Awaited<ReturnType<typeof permittedDeletion>>) =>
  (await sendRequest(url, request)).status;

/** Locks the table as a slow query would. */
async function lockGroups() {
  const { client, close } = await openLocalDatabase(directory, name);
  await client.query('begin; lock table user_groups in access exclusive mode');
  const waiting = "select from pg_locks where relation = 'user_groups'::regclass and not granted";
  return {
    requestWaits: () => eventually(async () => (await client.query(waiting)).rowCount === 1, 30),
    async release() {
      await client.query('rollback').catch(() => undefined);
      await close().catch(() => undefined);
    },
  };
}

it('Ctrl-C completes the running request and stops everything; the next start has the same data', async () => {
  const command = start('any');
  await command.ready();
  const [deletion = ''] = /^\.\/wallet delete-group .*/m.exec(command.said.stdout) ?? [];
  const { stdout } = await promisify(execFile)('sh', ['-c', deletion], { cwd: resolve(__dirname, '../..') });
  expect(stdout).toBe('200 {}\n');
  const [running, later] = [await permittedDeletion(), await permittedDeletion()];
  const processes = command.processes();
  const groups = await lockGroups();
  const status = send(running);
  await groups.requestWaits();
  command.process.kill('SIGINT');
  await eventually(() => command.said.stderr.includes('Stopping'), 30);
  await groups.release();
  expect(await status).toBe(200);
  expect((await command.ended()).exitCode).toBe(0);
  await eventually(() => !processes.some(isRunning), 30);

  const next = start(String(Number(new URL(later.url).port) - 8_001));
  await next.ready();
  expect(await send(later)).toBe(200);
  const processesOfNext = next.processes();
  next.process.kill('SIGKILL');
  await eventually(() => !processesOfNext.some(isRunning), 30);
});

it('of two starts after a kill, one runs and the other reports it; Ctrl-C does not wait for an endless request', async () => {
  const pair = [start('any'), start('any')];
  const winner = await Promise.any(pair.map((each) => each.ready().then(() => each)));
  const refused = pair.find((each) => each !== winner) as LocalCommand;
  expect(await refused.ended()).toMatchObject({ exitCode: 1, stdout: '' });
  expect(refused.said.stderr).toContain(
    `A local environment is already running in ${directory}: process ${winner.process.pid}.`,
  );
  const processes = winner.processes();
  const endless = await permittedDeletion();
  const groups = await lockGroups();
  const status = send(endless).catch((error: Error) => error.message);
  await groups.requestWaits();
  winner.process.kill('SIGTERM');
  expect((await winner.ended()).exitCode).toBe(0);
  expect(await status).toBe('socket hang up');
  expect(processes.filter(isRunning)).toEqual([]);
  await groups.release();
});

describe('with a state of its own', () => {
  const own = mkdtempSync(join(tmpdir(), 'wallet-lifecycle-'));
  const database = databaseDirectory(own, name);
  const lock = join(own, 'lock');
  const logs = join(own, 'logs', name);
  const startHere = () => startIn(own, 'any');
  beforeAll(() => prepareAssembly(own));
  afterEach(() => removePostgres(database));
  afterAll(() => rmSync(own, { recursive: true, force: true }));

  it.each([
    ['a damaged database', () => mkdirSync(join(database, 'cluster'), { recursive: true }), database],
    [
      'a template of databases that was copied while it ran',
      () => mkdirSync(join(own, 'empty-cluster/cluster/data/postmaster.pid'), { recursive: true }),
      own,
    ],
    ['a folder in place of a log', () => mkdirSync(join(logs, 'postgresql.log'), { recursive: true }), logs],
  ])('ends with cause and remedy, and unlocks the state, because of %s', async (_, damage, cause) => {
    damage();
    const command = startHere();
    expect(await command.ended()).toMatchObject({ exitCode: 1, stdout: '' });
    const { stderr } = command.said;
    expect(stderr).toContain(cause);
    expect(stderr).toMatch(/--fresh|[Ss]tart again|copy the folder again/);
    expect(stderr).not.toMatch(/^ +at /m);
    expect(existsSync(lock)).toBe(false);
    for (const each of [logs, join(own, 'empty-cluster')]) rmSync(each, { recursive: true, force: true });
  });

  it('names the first failure, not what it stops', async () => {
    const file = join(own, 'cdk.out', `${first.stackId}.template.json`);
    const template = readFileSync(file, 'utf8');
    writeFileSync(file, template.replace('"StringEquals":', '"StringSounds":'));
    const command = startHere();
    expect((await command.ended()).exitCode).toBe(1);
    expect(command.said.stderr.match(/^error: .*/gm)).toEqual([
      expect.stringContaining('the condition operator StringSounds is not supported on this machine.'),
    ]);
    writeFileSync(file, template);
  });

  it('reports what a start waits for, and Ctrl-C ends it at once', async () => {
    withoutGrant(own, /^SchemaMigration/, 'secretsmanager:GetSecretValue');
    const command = startHere();
    const waits = new RegExp(`${name} waits, SchemaMigration.*: Database not ready: .*AccessDenied`);
    await eventually(() => waits.test(command.said.stderr), 60);
    const processes = command.processes();
    command.process.kill('SIGINT');
    const asked = Date.now();
    expect((await command.ended()).exitCode).toBe(0);
    // Of eight minutes.
    expect(Date.now() - asked).toBeLessThan(20_000);
    expect(processes.filter(isRunning)).toEqual([]);
    expect(existsSync(lock)).toBe(false);
    rmSync(join(own, 'cdk.out'), { recursive: true });
    await prepareAssembly(own);
  });

  it('says that its state folder was deleted, and writes nothing after it', async () => {
    const command = startHere();
    await command.ready();
    const { pid } = command.process;
    rmSync(own, { recursive: true, force: true, maxRetries: 10 });
    expect((await command.ended()).exitCode).toBe(1);
    expect(command.said.stderr).toContain(`${own} was deleted while the environments ran`);
    expect([existsSync(own), isRunning(pid as number)]).toEqual([false, false]);
  });
});

/** Removes an action from the policies of an environment's synthesized stack. */
function withoutGrant(state: string, of: RegExp, action: string): void {
  const file = join(state, 'cdk.out', `${first.stackId}.template.json`);
  const template = JSON.parse(readFileSync(file, 'utf8'));
  let removed = 0;
  for (const [id, { Properties }] of Object.entries<{ Properties?: Json }>(template.Resources)) {
    const documents = [
      Properties?.PolicyDocument,
      ...(Properties?.Policies ?? []).map((each: Json) => each.PolicyDocument),
    ];
    for (const { Statement } of of.test(id) ? documents.filter(Boolean) : []) {
      const kept = Statement.filter((each: Json) => ![each.Action].flat().includes(action));
      removed += Statement.length - kept.length;
      Statement.splice(0, Statement.length, ...kept);
    }
  }
  expect(removed).toBeGreaterThan(0);
  writeFileSync(file, JSON.stringify(template));
}
