import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { lockFile, lockHolder, lockState, StateInUse } from '../../../lib/local/state/lock';

const run = promisify(execFile);
const lockModule = resolve(__dirname, '../../../lib/local/state/lock.ts');

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'state-lock-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Runs code in a process of its own, with `lockState` and `directory` at hand. */
async function elsewhere(code: string): Promise<string> {
  const script = `const { lockState } = require(${JSON.stringify(lockModule)}); const directory = ${JSON.stringify(directory)}; ${code}`;
  const { stdout } = await run(process.execPath, ['--import', 'tsx', '--eval', script]);
  return stdout.trim();
}

it('is held from the lock to the release', () => {
  const lock = lockState(directory);
  expect(lockHolder(directory)).toBe(process.pid);
  lock.release();
  expect(lockHolder(directory)).toBeUndefined();
  expect(readdirSync(directory)).toEqual([]);
});

it('is refused to a second, who is told who has it', () => {
  const lock = lockState(directory);
  expect(() => lockState(directory)).toThrow(StateInUse);
  expect(() => lockState(directory)).toThrow(`process ${process.pid}`);
  expect(existsSync(lockFile(directory))).toBe(true);
  lock.release();
});

it('of a process that was killed is taken over', async () => {
  await elsewhere('lockState(directory); process.kill(process.pid, "SIGKILL")').catch(() => undefined);
  expect(existsSync(lockFile(directory))).toBe(true);
  expect(lockHolder(directory)).toBeUndefined();
  lockState(directory).release();
});

it('is taken over when another process has got the number of the one that died', () => {
  const lock = lockState(directory);
  const own = JSON.parse(readFileSync(lockFile(directory), 'utf8'));
  writeFileSync(lockFile(directory), JSON.stringify({ ...own, begun: 'long ago' }));
  lockState(directory).release();
  lock.release();
});

it('that was cut short while it was written is taken over', () => {
  writeFileSync(lockFile(directory), '{"pid":');
  lockState(directory).release();
});

it('is released only by who has it', () => {
  const lock = lockState(directory);
  writeFileSync(lockFile(directory), JSON.stringify({ pid: process.ppid, begun: '' }));
  lock.release();
  expect(existsSync(lockFile(directory))).toBe(true);
});

it('of a dead process goes to one only of several that come at once', async () => {
  await elsewhere('lockState(directory); process.kill(process.pid, "SIGKILL")').catch(() => undefined);
  const attempt =
    'try { lockState(directory); console.log("got it"); setTimeout(() => {}, 1500) } catch (error) { console.log(error.name) }';
  const outcomes = await Promise.all(Array.from({ length: 4 }, () => elsewhere(attempt)));
  expect(outcomes.sort()).toEqual(['StateInUse', 'StateInUse', 'StateInUse', 'got it']);
});
