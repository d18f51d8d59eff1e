import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { removePostgres } from '../../local/postgres/postgres';
import { send as sendRequest, walletDeletion } from '../support/api';
import { startHttpServer } from '../support/http-server';
import { keepStateIn } from '../support/kept-state';
import { isRunning, type LocalCommand, startLocalCommand } from '../support/local-command';
import { databaseDirectory, openLocalDatabase } from '../support/local-database';
import { openLocalEnvironment } from '../support/local-environment';
import type { Organization } from '../support/organization';
import { killServer } from '../support/postgres';
import { first } from '../support/rows';

jest.setTimeout(90_000);

const { name } = first;
const anyPort = ['--port-offset', 'any'];
const directory = mkdtempSync(join(tmpdir(), 'wallet-lifecycle-'));
const commands: LocalCommand[] = [];

const start = (...args: string[]) => {
  const command = startLocalCommand('--environment', name, '--state', directory, ...args);
  commands.push(command);
  return command;
};

// That a first start works, all the other tests of environments show.
beforeAll(() => keepStateIn(directory, [name]));
afterAll(async () => {
  for (const { process } of commands) process.kill('SIGKILL');
  await Promise.all(commands.map((command) => command.ended()));
  await removePostgres(databaseDirectory(directory, name));
  rmSync(directory, { recursive: true });
});

/** A deletion that is due, ready to be sent. */
async function dueDeletion() {
  const local = openLocalEnvironment(directory);
  const seeded = await local.walletJson<Organization>(name, 'seed');
  const request = await walletDeletion(local, name, seeded);
  return { url: local.outputs(name).ApiBaseUrl ?? '', request };
}

const send = async ({ url, request }: Awaited<ReturnType<typeof dueDeletion>>) =>
  (await sendRequest(url, request)).status;

/** Holds every deletion up, as a slow database would, until it is released. */
async function holdDeletions(): Promise<() => Promise<void>> {
  const { client, close } = await openLocalDatabase(directory, name);
  await client.query('begin; lock table user_groups in access exclusive mode');
  return async () => {
    await client.query('rollback');
    await close();
  };
}

/** A machine with nothing but Node.js has no curl: this one knows what the printed command uses, and prints the answer. */
const curl = `
const headers = {};
const [url] = process.argv.filter((arg) => arg.startsWith('http'));
process.argv.forEach((arg, index) => {
  if (arg !== '-H') return;
  const [name, value] = process.argv[index + 1].split(/: (.*)/s);
  headers[name] = value;
});
const method = process.argv[process.argv.indexOf('-X') + 1];
fetch(url, { method, headers }).then(async (response) => console.log(response.status, await response.text()));
`;

/** Runs the deletion as it is pasted, in any folder. @returns the answer */
async function runPrinted(printed: string): Promise<string> {
  const [command] = /^curl (?:.*\\\n)*.*/m.exec(printed) ?? [];
  const script = `curl() { node -e "$CURL" -- "$@"; }\n${command}`;
  const env = { ...process.env, CURL: curl };
  return (await promisify(execFile)('sh', ['-c', script], { cwd: directory, env })).stdout;
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('Waited 20 s in vain.');
    await sleep(50);
  }
}

it('Ctrl-C while it starts ends it and leaves no lock, even when its output is closed', async () => {
  const command = start(...anyPort);
  command.process.stdout?.destroy();
  command.process.stderr?.destroy();
  await until(() => existsSync(join(directory, 'lock')));
  await sleep(500);
  const processes = command.processes();
  command.process.kill('SIGINT');
  expect((await command.ended()).exitCode).toBe(0);
  await until(() => !processes.some(isRunning));
  expect(existsSync(join(directory, 'lock'))).toBe(false);
});

it('Ctrl-C answers the running request, then ends everything, and the next start goes on where it was', async () => {
  const first = start(...anyPort);
  await first.ready();
  expect(await runPrinted(first.said.stdout)).toBe('200 {}\n');
  await send(await dueDeletion());
  const [running, later] = [await dueDeletion(), await dueDeletion()];
  const processes = first.processes();
  expect(processes.length).toBeGreaterThan(5);

  const release = await holdDeletions();
  const answer = send(running);
  await sleep(200);
  first.process.kill('SIGINT');
  const told = Date.now();
  await sleep(200);
  await release();

  expect(await answer).toBe(200);
  expect((await first.ended()).exitCode).toBe(0);
  expect(Date.now() - told).toBeLessThan(5_000);
  await until(() => !processes.some(isRunning));
  // A first start leaves an empty cluster, too.
  const left = readdirSync(directory).filter((each) => each !== 'empty-cluster');
  expect(left.sort()).toEqual(['.wallet-state', 'cdk.out', 'certificates', 'environments', 'logs']);

  const second = start('--port-offset', String(Number(new URL(later.url).port) - 8_001));
  await second.ready();
  expect(await send(later)).toBe(200);
  second.process.kill('SIGTERM');
  expect((await second.ended()).exitCode).toBe(0);
});

it('a second start is refused and names the first; killed, the first leaves no process, and the next start works', async () => {
  const first = start(...anyPort);
  await first.ready();
  const { exitCode, stderr, stdout } = await start(...anyPort).ended();
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr).toContain(`A local environment already runs on ${directory}: process ${first.process.pid}.`);
  expect(await send(await dueDeletion())).toBe(200);
  const processes = first.processes();
  first.process.kill('SIGKILL');
  await until(() => !processes.some(isRunning));

  const next = start(...anyPort);
  await next.ready();
  const endless = await dueDeletion();
  const processesOfNext = next.processes();
  const release = await holdDeletions();
  const answer = send(endless).catch((error: Error) => error.message);
  await sleep(200);
  next.process.kill('SIGINT');
  const told = Date.now();
  expect((await next.ended()).exitCode).toBe(0);
  expect(Date.now() - told).toBeLessThan(5_000);
  expect(await answer).toBe('socket hang up');
  expect(processesOfNext.filter(isRunning)).toEqual([]);
  await release().catch(() => undefined);
});

it('a taken port is refused, with the remedy', async () => {
  const other = await startHttpServer(() => undefined);
  const { port } = other;
  const { exitCode, stderr } = await start('--port-offset', String(port - 8_001)).ended();
  expect(exitCode).toBe(1);
  expect(stderr).toContain(`Port ${port} is taken by another program.`);
  expect(stderr).toMatch(/npm start -- --port-offset \d+/);
  await other.stop();
});

it.each(['/proc/nowhere/state', '/dev/null/state'])(
  'the folder %s, which cannot be made, is refused with the remedy',
  async (state) => {
    const { exitCode, stderr } = await start('--state', state).ended();
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/error: E\w+: .*\. Give another folder for the state with --state DIR\./);
  },
);

it('a PostgreSQL that ends by itself ends the command, which says where its log is', async () => {
  const command = start(...anyPort);
  await command.ready();
  const { pid, close } = await openLocalDatabase(directory, name);
  killServer(pid);
  await close().catch(() => undefined);
  const { exitCode, stderr } = await command.ended();
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    /error: PostgreSQL of \w+ ended by itself \(SIGKILL\). Its log: .*\/postgresql\.log/,
  );
});
