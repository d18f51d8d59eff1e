import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { inProject, startCommand, walletCommand } from '../../cli/pasted-command';
import { version } from '../../package.json';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();
const projectRoot = resolve(__dirname, '../..');
const local = resolve('.local/outputs.json');

it.each([
  ['the first environment of this machine', { environment: first.name, outputs: local }, ''],
  ['another', { environment: 'other', outputs: local }, ' --environment other'],
  [
    'a deployed one',
    { environment: first.name, outputs: "/srv/it's/outputs.json" },
    ` --outputs '/srv/it'"'"'s/outputs.json'`,
  ],
])('a printed command leads to %s', (_, options, place) => {
  expect(walletCommand('webhook list', options)).toBe(`./wallet webhook list${place}`);
});

it('printed commands work in another folder', () => {
  const elsewhere = jest.spyOn(process, 'cwd').mockReturnValue('/');
  try {
    const options = { environment: first.name, outputs: local };
    expect(walletCommand('smoke', options)).toBe(`${projectRoot}/wallet smoke`);
    expect(inProject('npx cdk deploy')).toBe(`cd ${projectRoot} && npx cdk deploy`);
  } finally {
    elsewhere.mockRestore();
  }
  expect(startCommand).toBe('npm start');
});

it('./wallet runs from any folder, and by a link', () => {
  const cwd = folder();
  symlinkSync(join(projectRoot, 'wallet'), join(cwd, 'wallet'));
  expect(execFileSync('./wallet', ['--version'], { cwd, encoding: 'utf8' })).toBe(`${version}\n`);
});
