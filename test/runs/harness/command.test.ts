import { scripts } from '../../../package.json';
import { startNode } from '../../support/node-process';

/** What the script of that name does with these arguments. */
const run = (name: keyof typeof scripts, ...args: string[]) =>
  startNode(...scripts[name].replace('exec node ', '').split(' '), ...args).ended();

// Side by side: most of a command's time goes into reading its own modules.
it.concurrent.each<[keyof typeof scripts, ...string[]]>([
  ['fuzz', '--runs', '-5'],
  ['load', '--duration', '2m'],
  ['bench', 'nothing'],
  ['compatible', '--base', 'nowhere'],
])('npm run %s -- %s %s: exit code 2, with the reason', async (name, ...args) => {
  const stderr = expect.stringMatching(/^error: /);
  expect(await run(name, ...args)).toEqual({ exitCode: 2, stdout: '', stderr });
});

it('help is no mistake, and names the command as it is called', async () => {
  expect(await run('storm', '--help')).toEqual({
    exitCode: 0,
    stdout: expect.stringMatching(/^Usage: npm run storm -- /),
    stderr: '',
  });
});
