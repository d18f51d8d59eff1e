import { join } from 'node:path';
import { environments } from '../../lib/environments';
import { first } from '../support/rows';
import { wallet } from '../support/wallet-command';
import { run, toolFolder } from './tool';

const names = environments.map(({ name }) => name).sort();
const initial = first.name.charAt(0);
const folder = toolFolder();

/** What a shell offers after the words, the last of which is being typed. */
const complete: Readonly<Record<string, (file: string, words: readonly string[]) => Promise<string[]>>> = {
  async bash(file, words) {
    const typed = words.map((word) => `'${word}'`).join(' ');
    const { output } = await run('bash', [
      ...['--norc', '-c'],
      `source ${file}; COMP_WORDS=(${typed}); COMP_CWORD=${words.length - 1}; _wallet 2>/dev/null; printf '%s\n' "\${COMPREPLY[@]}"`,
    ]);
    return linesOf(output);
  },
  // Completion runs within the line editor alone: what it hands over is printed instead.
  async zsh(file, words) {
    const typed = words.map((word) => `'${word}'`).join(' ');
    const { output } = await run('zsh', [
      ...['-f', '-c'],
      `compdef() { }; _files() { print -l *; }; _describe() { print -rl -- \${choices%%:*}; };
       source ${file}; words=(${typed}); CURRENT=${words.length}; cd ${folder.path()}; _wallet`,
    ]);
    return linesOf(output).filter((word) => word.startsWith(words.at(-1) ?? ''));
  },
  async fish(file, words) {
    const { output } = await run('fish', [
      ...['--no-config', '-c'],
      `source ${file}; cd ${folder.path()}; complete -C "${words.join(' ')}"`,
    ]);
    return linesOf(output).map((line) => line.split('\t')[0] ?? '');
  },
};
const linesOf = (output: string) => output.split('\n').filter(Boolean);

describe.each(Object.keys(complete))('%s', (shell) => {
  let file: string;
  beforeEach(async () => {
    file = folder.write(`wallet.${shell}`, await wallet('completion', shell));
  });
  const typing = (...words: string[]) => complete[shell]?.(file, ['wallet', ...words]);

  it.each([
    ['a command', ['see'], ['seed']],
    ['commands with the same beginning', ['origin'], ['origin-status', 'origins']],
    ['a command of a group', ['webhook', 'ro'], ['rotate']],
    [
      'environments with the same beginning',
      ['seed', '--environment', initial],
      names.filter((name) => name.startsWith(initial)),
    ],
    ['all environments of a group', ['webhook', 'add', '--environment', ''], names],
    ['a format', ['origins', '--format', 'nf'], ['nftables']],
    ['an option', ['webhook', 'add', '--ur'], ['--url']],
    ['an option after others', ['seed', '--environment', first.name, '--na'], ['--name']],
    ['a shell', ['completion', 'zs'], ['zsh']],
    ['nothing for what only a person knows', ['token', '--caller', ''], []],
  ])('completes %s', async (_, typed, expected) => {
    expect((await typing(...typed))?.sort()).toEqual(expected);
  });

  it('completes a file', async () => {
    folder.write('outputs.json', '{}');
    const beginning = shell === 'bash' ? join(folder.path(), 'out') : 'out';
    const expected = shell === 'bash' ? join(folder.path(), 'outputs.json') : 'outputs.json';
    expect(await typing('seed', '--outputs', beginning)).toEqual([expected]);
  });

  it('makes wallet a command, in any folder', async () => {
    const { exitCode, output } = await run(shell, [
      '-c',
      `cd / && source ${file} 2>/dev/null; wallet --version`,
    ]);
    expect({ exitCode, output: output.trim().split('\n').at(-1) }).toEqual({
      exitCode: 0,
      output: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    });
  });
});
