import type { Option } from 'commander';
import { printable } from '../../domain/printable';
import { walletCommands } from '../support/wallet-command';
import { wallet } from './region';

const placeholderOf = ({ flags }: Option) => /<(.+)>$/.exec(flags)?.[1] ?? '';

/** Invalid values for each placeholder. An option with choices refuses all others. */
const refused: Readonly<Record<string, readonly string[]>> = {
  duration: ['', '-1s', '5x', '5 m', '1h30m', '1e3', '0', 'Infinity', 'soon', '999999d'],
  file: [''],
  folder: [''],
  id: [
    '',
    'a.b',
    '../..',
    "us-aaaaa-bbbbb-cccccccccccccccc'",
    'a'.repeat(65),
    '.zz-aaaaa-bbbbb-cccccccccccccccc',
  ],
  json: ['', '{a:1}', '{'],
  kind: ['', 'a b', '.a', 'a'.repeat(129), 'webhook.test'],
  kinds: ['', 'a,,b', 'a, b'],
  method: ['', 'GET', 'DELETE /', 'UPDATE', 'POSTS'],
  number: ['', '0', '-1', '1.5', '1e3', 'one', '9999999999'],
  path: ['', 'auth', '/', '//a', '/%zz', '/a?b=c', '/a#b', 'https://a.example/b', '/a b'],
  port: ['', '-1', '1.5', '65536', 'http'],
  time: ['', 'soon', '-1s', '1h30m', '999999d', '2026-13-01', '2026-02-30', '20261120', '0001-01-01'],
  url: ['', 'hooks.customer.com', 'ftp://hooks.customer.com/', 'javascript:0'],
};

it.each(walletCommands)('wallet %s has help, and refuses invalid option values', async (path, command) => {
  const words = path.split(' ');
  const { stdout } = await wallet(...words, '--help');
  for (const { flags, mandatory } of command.options)
    expect(stdout.includes(`  ${flags} (required) `)).toBe(mandatory);
  // Said before a missing or wrong one.
  const wrong = command.options.flatMap(({ long, parseArg }) => (long && parseArg ? [long, '*'] : []));
  const misspelt = await wallet(...words, ...wrong, '--misspelt', 'x');
  expect(misspelt.stderr).toContain("unknown option '--misspelt'");
  for (const option of command.options.filter(({ required, long }) => required && long !== '--body')) {
    const values = option.argChoices ? ['', 'nope'] : refused[placeholderOf(option)];
    for (const value of values ?? ['untested']) {
      const printed = await wallet(...words, `${option.long}=${value}`);
      const said = `error: option '${option.flags}' argument '${printable(value)}' is invalid. `;
      expect(printed).toEqual({ exitCode: 2, stdout: '', stderr: expect.stringContaining(said) });
    }
  }
});
