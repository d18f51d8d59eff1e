import { once } from 'node:events';
import { join } from 'node:path';
import { scripts } from '../../package.json';
import { startNode } from '../support/node-process';

/** Runs the script of that name with these arguments. */
const run = (name: keyof typeof scripts, ...args: string[]) =>
  startNode(...scripts[name].replace('exec node ', '').split(' '), ...args).ended();

// Concurrently: a command spends most of its time loading modules.
it.concurrent.each<[keyof typeof scripts, ...string[]]>([
  ['fuzz', '--runs', '-5'],
  ['endurance', '--slow', '48'],
  ['bench', 'nothing'],
  ['compatible', '--base', 'nowhere'],
])('npm run %s -- %s %s: exit code 2, with the reason', async (name, ...args) => {
  const stderr = expect.stringMatching(/^error: /);
  expect(await run(name, ...args)).toEqual({ exitCode: 2, stdout: '', stderr });
});

it('SIGINT prints one line, and nothing about failures after it', async () => {
  const child = startNode(
    ...['--require', 'tsx/cjs', '--eval'],
    `require(${JSON.stringify(join(__dirname, 'long-run.ts'))}).longRun({
      name: 'test', description: '', declare: (command) => command,
      run: (_, { signal }) => new Promise((_, fail) => {
        const work = setInterval(() => undefined, 1_000);
        signal.addEventListener('abort', () => {
          clearInterval(work);
          setTimeout(() => fail(new Error('ECONNREFUSED')), 50);
        });
        console.log('working');
      }),
    });`,
  );
  await once(child.process.stdout, 'data');
  child.process.kill('SIGINT');
  expect(await child.ended()).toMatchObject({ exitCode: 130, stderr: 'Interrupted.\n' });
});
