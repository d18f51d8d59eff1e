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
import { copyNewCluster, databaseDirectory } from '../support/postgres';
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

it('kill -9 ends every process; the next start has what was committed; Ctrl-C stops everything', async () => {
  const killed = await start('any');
  const [deletion = ''] = /^\.\/wallet delete-group .*/m.exec(killed.said.stdout) ?? [];
  const { stdout } = await promisify(execFile)('sh', ['-c', deletion], { cwd: root });
  expect(stdout).toBe('200 {}\n');
  const local = openLocalEnvironment(directory);
  const wire = await walletDeletion(local, name, await local.walletJson<Organization>(name, 'seed'));
  const { ApiBaseUrl = '' } = local.outputs(name);
  const former = killed.processes();
  killed.process.kill('SIGKILL');
  await eventually(() => !former.some(isRunning));

  const next = await start(String(Number(new URL(ApiBaseUrl).port) - 8_001));
  expect((await send(ApiBaseUrl, wire)).status).toBe(200);
  // Of each set, once: later starts remember them.
  const exported = readFileSync(join(directory, 'logs', name, 'SigningKeysExportJwks.log'), 'utf8');
  expect(exported.match(/Keys exported/g)).toHaveLength(2);

  const processes = next.processes();
  next.process.kill('SIGINT');
  expect((await next.ended()).exitCode).toBe(0);
  await eventually(() => !processes.some(isRunning));
});
