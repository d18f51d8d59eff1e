import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { lockHolder, openState, readJson } from '../../local/state';
import { temporaryFolder } from '../support/temporary-folder';

const run = promisify(execFile);
const folder = temporaryFolder();
const lockFile = () => join(folder(), 'lock');

it.each(['new', 'new/deep/er', 'link'])('takes %s, an empty folder or none, and then knows it', (name) => {
  mkdirSync(join(folder(), 'empty'));
  symlinkSync('empty', join(folder(), 'link'));
  const directory = join(folder(), name);
  openState(directory).close();
  expect(readdirSync(directory)).toEqual(['.wallet-state']);
  writeFileSync(join(directory, 'anything'), '');
  openState(directory).close();
});

it.each(['outputs.json', 'cdk.out', '.profile'])('refuses a folder that has %s, and leaves it', (name) => {
  writeFileSync(join(folder(), name), '');
  expect(() => openState(folder())).toThrow(`holds other files (${name}, for one)`);
  expect(readdirSync(folder())).toEqual([name]);
});

it.each([
  ['a file', () => writeFileSync(join(folder(), 'state'), ''), 'ENOTDIR'],
  ['a link to itself', () => symlinkSync('state', join(folder(), 'state')), 'EEXIST'],
])('refuses %s, and says what to do', (_, prepare, code) => {
  prepare();
  expect(() => openState(join(folder(), 'state'))).toThrow(
    new RegExp(`^${code}: .*'. Give another folder for the state with --state DIR.$`),
  );
});

it('is held until it is closed, and a second one is told by whom', () => {
  const state = openState(folder());
  expect(lockHolder(folder())).toBe(process.pid);
  expect(() => openState(folder())).toThrow(`already runs on ${folder()}: process ${process.pid}. Stop it`);
  state.close();
  expect(lockHolder(folder())).toBeUndefined();
  expect(readdirSync(folder())).toEqual(['.wallet-state']);
});

it.each([
  ['has got the number of the one that died', () => JSON.stringify({ pid: process.pid, begun: 'long ago' })],
  ['cut it short', () => '{"pid":'],
])('takes over the lock of another process, which %s', (_, lock) => {
  openState(folder()).close();
  writeFileSync(lockFile(), lock());
  openState(folder()).close();
});

it('leaves the lock of another process', () => {
  const state = openState(folder());
  writeFileSync(lockFile(), JSON.stringify({ pid: process.ppid, begun: '' }));
  state.close();
  expect(existsSync(lockFile())).toBe(true);
});

it('goes to one only of several processes that find a dead lock', async () => {
  openState(folder()).close();
  writeFileSync(lockFile(), JSON.stringify({ pid: 2 ** 22 + 1, begun: '' }));
  const script = `const { openState } = require(${JSON.stringify(resolve(__dirname, '../../local/state.ts'))});
    try { openState(${JSON.stringify(folder())}); console.log('got it'); setTimeout(() => {}, 3000) }
    catch (error) { console.log(error.name) }`;
  const attempt = async () =>
    (await run(process.execPath, ['--import', 'tsx', '--eval', script])).stdout.trim();
  const outcomes = await Promise.all([attempt(), attempt(), attempt()]);
  expect(outcomes.sort()).toEqual(['StartError', 'StartError', 'got it']);
});

it('says of a damaged file what to do', () => {
  const file = join(folder(), 'secrets.json');
  expect(readJson(file)).toBeUndefined();
  writeFileSync(file, '{');
  expect(() => readJson(file)).toThrow(`${file} is damaged. Start over with --fresh`);
  expect(readFileSync(file, 'utf8')).toBe('{');
});
