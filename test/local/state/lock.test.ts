import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { lockFile, lockHolder, lockState, StateInUse } from '../../../local/state/lock';
import { temporaryFolder } from '../../support/temporary-folder';

const run = promisify(execFile);
const lockModule = resolve(__dirname, '../../../local/state/lock.ts');

const folder = temporaryFolder();

/** Runs code in another process, with `lockState` and `directory` at hand. */
async function elsewhere(code: string): Promise<string> {
  const script = `const { lockState } = require(${JSON.stringify(lockModule)}); const directory = ${JSON.stringify(folder())}; ${code}`;
  const { stdout } = await run(process.execPath, ['--import', 'tsx', '--eval', script]);
  return stdout.trim();
}

it('is held from the lock to the release', () => {
  const lock = lockState(folder());
  expect(lockHolder(folder())).toBe(process.pid);
  lock.release();
  expect(lockHolder(folder())).toBeUndefined();
  expect(readdirSync(folder())).toEqual([]);
});

it('is refused to a second, who is told who has it', () => {
  const lock = lockState(folder());
  expect(() => lockState(folder())).toThrow(StateInUse);
  expect(() => lockState(folder())).toThrow(`process ${process.pid}`);
  expect(existsSync(lockFile(folder()))).toBe(true);
  lock.release();
});

it('of a process that was killed is taken over', async () => {
  await elsewhere('lockState(directory); process.kill(process.pid, "SIGKILL")').catch(() => undefined);
  expect(existsSync(lockFile(folder()))).toBe(true);
  expect(lockHolder(folder())).toBeUndefined();
  lockState(folder()).release();
});

it('is taken over when another process has got the number of the one that died', () => {
  const lock = lockState(folder());
  const own = JSON.parse(readFileSync(lockFile(folder()), 'utf8'));
  writeFileSync(lockFile(folder()), JSON.stringify({ ...own, begun: 'long ago' }));
  lockState(folder()).release();
  lock.release();
});

it('that was cut short while it was written is taken over', () => {
  writeFileSync(lockFile(folder()), '{"pid":');
  lockState(folder()).release();
});

it('is released only by who has it', () => {
  const lock = lockState(folder());
  writeFileSync(lockFile(folder()), JSON.stringify({ pid: process.ppid, begun: '' }));
  lock.release();
  expect(existsSync(lockFile(folder()))).toBe(true);
});

it('of a dead process goes to one only of several that come at once', async () => {
  await elsewhere('lockState(directory); process.kill(process.pid, "SIGKILL")').catch(() => undefined);
  const attempt =
    'try { lockState(directory); console.log("got it"); setTimeout(() => {}, 1500) } catch (error) { console.log(error.name) }';
  const outcomes = await Promise.all(Array.from({ length: 4 }, () => elsewhere(attempt)));
  expect(outcomes.sort()).toEqual(['StateInUse', 'StateInUse', 'StateInUse', 'got it']);
});
