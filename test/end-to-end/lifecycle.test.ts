import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { removePostgres } from '../../local/postgres/postgres';
import { openState } from '../../local/state/lock';
import { send, walletDeletion } from '../support/api';
import { eventually } from '../support/eventually';
import { isRunning, type LocalCommand, startLocalCommand } from '../support/local-command';
import { openLocalEnvironment } from '../support/local-environment';
import type { Organization } from '../support/organization';
import { copyNewCluster, databaseDirectory, openLocalDatabase } from '../support/postgres';
import { copyAssembly, copyProject } from '../support/prepared-state';
import { first } from '../support/rows';

const { name } = first;
/**
 * A copy of the project in a folder with what URLs, shells and the CDK give a meaning to. Its environment is not one that tests share:
 * it is killed.
 */
const folder = mkdtempSync(join(tmpdir(), 'wallet-lifecycle-'));
const root = join(folder, `it's 100%20 #1 "ü" & $HOME`);
const directory = join(root, '.local');
const commands: LocalCommand[] = [];

async function start(offset: string): Promise<LocalCommand> {
  const args = ['--environment', name, '--state', directory];
  const command = startLocalCommand(root, ...args, '--port-offset', offset);
  commands.push(command);
  await command.ready();
  return command;
}

beforeAll(async () => {
  copyProject(root, 'cli', 'local', 'wallet');
  const { assemblyDirectory, emptyClusterDirectory, close } = openState(directory);
  close();
  await Promise.all([copyAssembly(assemblyDirectory), copyNewCluster(emptyClusterDirectory)]);
});
afterAll(async () => {
  for (const { process } of commands) process.kill('SIGKILL');
  await Promise.all(commands.map((command) => command.ended()));
  await removePostgres(databaseDirectory(directory, name));
  rmSync(folder, { recursive: true });
});

/** A permitted deletion, ready to be sent. @returns sends it, for its status */
async function permittedDeletion() {
  const local = openLocalEnvironment(directory);
  const wire = await walletDeletion(local, name, await local.walletJson<Organization>(name, 'seed'));
  return async () => (await send(local.outputs(name).ApiBaseUrl ?? '', wire)).status;
}

it('kill -9 ends every process; the next start has what was committed; Ctrl-C completes the running request and stops everything', async () => {
  const killed = await start('any');
  const [deletion = ''] = /^\.\/wallet delete-group .*/m.exec(killed.said.stdout) ?? [];
  const { stdout } = await promisify(execFile)('sh', ['-c', deletion], { cwd: root });
  expect(stdout).toBe('200 {}\n');
  const sendLater = await permittedDeletion();
  const { port } = new URL(openLocalEnvironment(directory).outputs(name).ApiBaseUrl ?? '');
  const former = killed.processes();
  killed.process.kill('SIGKILL');
  await eventually(() => !former.some(isRunning));

  const next = await start(String(Number(port) - 8_001));
  expect(await sendLater()).toBe(200);
  // Of each set, once: later starts remember them.
  const exported = readFileSync(join(directory, 'logs', name, 'SigningKeysExportJwks.log'), 'utf8');
  expect(exported.match(/Keys exported/g)).toHaveLength(2);

  const sendDeletion = await permittedDeletion();
  const processes = next.processes();
  // Locks the table as a slow query would.
  const { client, close } = await openLocalDatabase(directory, name);
  await client.query('begin; lock table user_groups in access exclusive mode');
  const status = sendDeletion();
  const waiting = "select from pg_locks where relation = 'user_groups'::regclass and not granted";
  await eventually(async () => (await client.query(waiting)).rowCount === 1);
  next.process.kill('SIGINT');
  await eventually(() => next.said.stderr.includes('Stopping'));
  await client.query('rollback');
  await close();
  expect(await status).toBe(200);
  expect((await next.ended()).exitCode).toBe(0);
  await eventually(() => !processes.some(isRunning));
});
