import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
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
/** The one of two simultaneous starts that serves. */
let winner: LocalCommand;

function start(offset: string): LocalCommand {
  const args = ['--environment', name, '--state', directory];
  const command = startLocalCommand(root, ...args, '--port-offset', offset);
  commands.push(command);
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

it('kill -9 ends every process, and the next start has what was committed; of two starts at once, one reports the other', async () => {
  const killed = start('any');
  await killed.ready();
  const [deletion = ''] = /^\.\/wallet delete-group .*/m.exec(killed.said.stdout) ?? [];
  const { stdout } = await promisify(execFile)('sh', ['-c', deletion], { cwd: root });
  expect(stdout).toBe('200 {}\n');
  const sendLater = await permittedDeletion();
  const { port } = new URL(openLocalEnvironment(directory).outputs(name).ApiBaseUrl ?? '');
  const processes = killed.processes();
  killed.process.kill('SIGKILL');
  await eventually(() => !processes.some(isRunning));

  const offset = String(Number(port) - 8_001);
  const pair = [start(offset), start(offset)];
  winner = await Promise.any(pair.map((each) => each.ready().then(() => each)));
  const refused = pair.find((each) => each !== winner) as LocalCommand;
  expect(await refused.ended()).toMatchObject({ exitCode: 1, stdout: '' });
  expect(refused.said.stderr).toContain(
    `A local environment is already running in ${directory}: process ${winner.process.pid} on ${hostname()}.`,
  );
  expect(await sendLater()).toBe(200);
  // Of each set, once: later starts remember them.
  const exported = readFileSync(join(directory, 'logs', name, 'SigningKeysExportJwks.log'), 'utf8');
  expect(exported.match(/Keys exported/g)).toHaveLength(2);
});

it('Ctrl-C completes the running request and stops everything', async () => {
  const sendDeletion = await permittedDeletion();
  const processes = winner.processes();
  // Locks the table as a slow query would.
  const { client, close } = await openLocalDatabase(directory, name);
  await client.query('begin; lock table user_groups in access exclusive mode');
  const status = sendDeletion();
  const waiting = "select from pg_locks where relation = 'user_groups'::regclass and not granted";
  await eventually(async () => (await client.query(waiting)).rowCount === 1);
  winner.process.kill('SIGINT');
  await eventually(() => winner.said.stderr.includes('Stopping'));
  await client.query('rollback');
  await close();
  expect(await status).toBe(200);
  expect((await winner.ended()).exitCode).toBe(0);
  await eventually(() => !processes.some(isRunning));
});
