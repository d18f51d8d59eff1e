import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { removePostgres } from '../../local/postgres/postgres';
import { send as sendRequest, walletDeletion } from '../support/api';
import { eventually } from '../support/eventually';
import { isRunning, type LocalCommand, startLocalCommand } from '../support/local-command';
import { databaseDirectory, openLocalDatabase } from '../support/local-database';
import { openLocalEnvironment } from '../support/local-environment';
import type { Organization } from '../support/organization';
import { prepareAssembly } from '../support/prepared-state';
import { first } from '../support/rows';

jest.setTimeout(90_000);

const { name } = first;
const directory = mkdtempSync(join(tmpdir(), 'wallet-lifecycle-'));
const commands: LocalCommand[] = [];

const start = (...args: string[]) => {
  const command = startLocalCommand('--environment', name, '--state', directory, '--port-offset', ...args);
  commands.push(command);
  return command;
};

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
