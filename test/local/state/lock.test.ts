import { readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openState } from '../../../local/state/lock';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();

it('accepts a missing folder, also the next time', () => {
  const directory = join(folder(), 'new/deep/er');
  openState(directory).close();
  expect(readdirSync(directory)).toEqual(['.wallet-state']);
  writeFileSync(join(directory, 'anything'), '');
  openState(directory).close();
});

it('refuses a path that cannot be created, and does not wait for it', () => {
  expect(() => openState('/proc/wallet/state')).toThrow(
    /: .*\. Choose another state folder with --state DIR\.$/,
  );
});

it('refuses a file, and a folder that has other files, which it leaves', () => {
  const file = join(folder(), 'outputs.json');
  writeFileSync(file, '');
  expect(() => openState(file)).toThrow(/^ENOTDIR: .*'. Choose another state folder with --state DIR.$/);
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
  openState(folder()).close();
  symlinkSync(String(holder), join(folder(), 'lock'));
  openState(folder()).close();
  expect(readdirSync(folder())).toEqual(['.wallet-state']);
});

it('does not unlock a folder that was deleted and is now in use by another start', () => {
  const state = openState(folder());
  rmSync(folder(), { recursive: true });
  const other = openState(folder());
  state.close();
  expect(() => openState(folder())).toThrow('already running');
  other.close();
});
