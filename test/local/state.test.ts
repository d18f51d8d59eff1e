import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockHolder, openState, readJson } from '../../local/state';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();

it.each(['new', 'new/deep/er', 'link'])(
  'accepts %s, an empty or missing folder, and recognizes it the next time',
  (name) => {
    mkdirSync(join(folder(), 'empty'));
    symlinkSync('empty', join(folder(), 'link'));
    const directory = join(folder(), name);
    openState(directory).close();
    expect(readdirSync(directory)).toEqual(['.wallet-state']);
    writeFileSync(join(directory, 'anything'), '');
    openState(directory).close();
  },
);

it.each(['outputs.json', 'cdk.out', '.profile'])('refuses a folder that has %s, and leaves it', (name) => {
  writeFileSync(join(folder(), name), '');
  expect(() => openState(folder())).toThrow(`contains other files (such as ${name})`);
  expect(readdirSync(folder())).toEqual([name]);
});

it.each([
  ['a file', () => writeFileSync(join(folder(), 'state'), ''), 'ENOTDIR'],
  ['a link to itself', () => symlinkSync('state', join(folder(), 'state')), 'EEXIST'],
])('refuses %s, and names --state', (_, prepare, code) => {
  prepare();
  expect(() => openState(join(folder(), 'state'))).toThrow(
    new RegExp(`^${code}: .*'. Choose another state folder with --state DIR.$`),
  );
});

it('is locked until it is closed; another start reports the process id', () => {
  const state = openState(folder());
  expect(lockHolder(folder())).toBe(process.pid);
  expect(() => openState(folder())).toThrow(
    `is already running in ${folder()}: process ${process.pid}. Stop it`,
  );
  state.close();
  expect(lockHolder(folder())).toBeUndefined();
  expect(readdirSync(folder())).toEqual(['.wallet-state']);
});

it.each([
  ['the process ended', `${2 ** 22 + 1} 1`],
  ['another process has its id now', `${process.pid} long ago`],
])('takes over a lock when %s', (_, holder) => {
  openState(folder()).close();
  symlinkSync(holder, join(folder(), 'lock'));
  const state = openState(folder());
  expect(lockHolder(folder())).toBe(process.pid);
  state.close();
  expect(readdirSync(folder())).toEqual(['.wallet-state']);
});

it('suggests --fresh for a damaged file, and does not change it', () => {
  const file = join(folder(), 'secrets.json');
  expect(readJson(file)).toBeUndefined();
  writeFileSync(file, '{');
  expect(() => readJson(file)).toThrow(`${file} is damaged. Start over with --fresh`);
  expect(readFileSync(file, 'utf8')).toBe('{');
});
