import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../local/assembly/synthesis';
import { openState } from '../../../local/state/lock';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();

it('refuses a path that cannot be created, a file, and a folder that has other files, which it leaves', () => {
  const file = join(folder(), 'outputs.json');
  writeFileSync(file, '');
  for (const path of ['/proc/wallet/state', file])
    expect(() => openState(path)).toThrow(/: .*\. Choose another state folder with --state DIR\.$/);
  expect(() => openState(folder())).toThrow('contains other files (such as outputs.json)');
  expect(readdirSync(folder())).toEqual(['outputs.json']);
});

it('is locked until it is closed; another start reports the process id', () => {
  openState(folder()).close();
  symlinkSync(String(process.ppid), join(folder(), 'lock'));
  expect(() => openState(folder())).toThrow(`process ${process.ppid}. Stop it`);
});

it.each([
  ['the process ended', 2 ** 22 + 1],
  ['it had this id, in an earlier container', process.pid],
])('takes over a lock when %s', (_, holder) => {
  const missing = join(folder(), 'new/deep/er');
  openState(missing).close();
  writeFileSync(join(missing, 'anything'), '');
  symlinkSync(String(holder), join(missing, 'lock'));
  openState(missing).close();
  expect(readdirSync(missing)).toEqual(['.wallet-state', 'anything']);
});

it('does not unlock a folder that was deleted and is now in use by another start', () => {
  const state = openState(folder());
  rmSync(folder(), { recursive: true });
  const other = openState(folder());
  state.close();
  expect(() => openState(folder())).toThrow('already running');
  other.close();
});

/** Where this process may: a process of another container, whose id means nothing here. */
const inNamespace = ['unshare', '--pid', '--fork', '--kill-child'];
const wrappers = [[], inNamespace].filter((wrapper) => spawnSync('env', [...wrapper, 'true']).status === 0);
it.each(wrappers)('is locked until its process is killed %s', async (...wrapper) => {
  const open = `require('./local/state/lock').openState(process.argv[1]); console.log('open'); setInterval(() => 0, 1e6)`;
  const node = [process.execPath, '--require', './bin/tsx.cjs', '-e', open, folder()];
  const [command = '', ...args] = [...wrapper, ...node];
  const child = spawn(command, args, { cwd: projectRoot, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await once(child.stdout, 'data');
    for (const message of [/already running in .*: process \d+ on .*\. Stop it/, 'already running'])
      expect(() => openState(folder())).toThrow(message);
  } finally {
    child.kill('SIGKILL');
  }
  await once(child.stdout, 'close');
  openState(folder()).close();
});
