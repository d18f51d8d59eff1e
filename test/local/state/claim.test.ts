import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { claimStateFolder } from '../../../local/state/claim';
import { stateFolder } from '../../../local/state/state';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
const claim = (directory: string) => claimStateFolder(stateFolder(directory));

/** Makes a folder of files, and of folders, whose names end with a slash. */
function make(...names: readonly string[]): string {
  const directory = join(folder(), 'state');
  mkdirSync(directory);
  for (const name of names)
    name.endsWith('/') ? mkdirSync(join(directory, name)) : writeFileSync(join(directory, name), name);
  return directory;
}

it.each(['new', 'new/deep/er', 'link'])('takes %s, an empty folder or none, and then knows it', (name) => {
  symlinkSync(make(), join(folder(), 'link'));
  const directory = join(folder(), name);
  claim(directory);
  expect(readdirSync(directory)).toEqual(['.wallet-state']);
  writeFileSync(join(directory, 'anything'), '');
  claim(directory);
});

it.each([
  ['of a deployment', ['outputs.json'], 'outputs.json is not from a local environment'],
  ['of a deployment, beside the state', ['.wallet-state', 'outputs.json'], 'move it away'],
  ['of the CDK', ['cdk.out/'], 'cdk.out, for one'],
  ['that are hidden', ['.profile'], '.profile, for one'],
  ['beside those of an earlier version', ['certificates/', 'environments/', 'notes'], 'other files'],
  ['of which an earlier version made but a part', ['logs/', 'lock'], 'lock, for one'],
])('refuses files %s, and leaves them', (_, names, reason) => {
  const directory = make(...names);
  const before = readdirSync(directory);
  expect(() => claim(directory)).toThrow(reason);
  expect(() => claim(directory)).toThrow('Give another folder for the state with --state DIR.');
  expect(readdirSync(directory)).toEqual(before);
});

it.each([
  [[]],
  [['lock', 'outputs.json', 'endpoints.json', 'snapshots/', 'cdk.out.new/', 'outputs.json.12']],
])('takes what an earlier version left, with %j besides', (more) => {
  const directory = make('certificates/', 'environments/', 'cdk.out/', 'logs/', ...more);
  claim(directory);
  expect(readdirSync(directory)).toContain('.wallet-state');
});

it.each([
  ['a file', () => writeFileSync(join(folder(), 'state'), ''), 'ENOTDIR'],
  ['a link to itself', () => symlinkSync('state', join(folder(), 'state')), 'EEXIST'],
  ['a link to nothing', () => symlinkSync('nothing', join(folder(), 'state')), 'EEXIST'],
])('refuses %s', (_, prepare, code) => {
  prepare();
  expect(() => claim(join(folder(), 'state'))).toThrow(
    new RegExp(`^${code}: .*'. Give another folder for the state with --state DIR.$`),
  );
});
