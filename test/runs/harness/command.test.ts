import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { scripts } from '../../../package.json';

/** What the script of that name does with these arguments. */
async function run(name: keyof typeof scripts, ...args: string[]) {
  const [command, ...given] = scripts[name].replace(/^exec node/, process.execPath).split(' ');
  const child = spawn(command ?? '', [...given, ...args], { cwd: resolve(__dirname, '../../..') });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
  }
  const [exitCode] = await once(child, 'close');
  return { exitCode, said };
}

// Side by side: most of a command's time goes into reading its own modules.
it.concurrent.each<[keyof typeof scripts, ...string[]]>([
  ['fuzz', '--runs', '-5'],
  ['load', '--minutes', '0.1'],
  ['bench', 'nothing'],
])('npm run %s -- %s %s: exit code 2, with the reason', async (name, ...args) => {
  expect(await run(name, ...args)).toEqual({ exitCode: 2, said: expect.stringMatching(/^error: /) });
});

it('help is no mistake, and names the command as it is called', async () => {
  expect(await run('storm', '--help')).toEqual({
    exitCode: 0,
    said: expect.stringMatching(/^Usage: npm run storm -- /),
  });
});
