import fs from 'node:fs';
import { resolve } from 'node:path';
import type { Option } from 'commander';
import { runCommandLine } from '../../cli/command-line';
import { time } from '../../cli/shell/options';
import { createTerminal, table } from '../../cli/shell/terminal';
import { walletCommand } from '../../cli/shell/wallet-command';
import { printable } from '../../domain/printable';
import { version } from '../../package.json';
import { first } from '../support/rows';
import { environments } from '../support/table';
import { temporaryFolder } from '../support/temporary-folder';
import { runWallet, silent, walletCommands, writeOutputs } from '../support/wallet-command';
import { identityId, wallet, webhookId } from './region';

const folder = temporaryFolder();

const [, other = first] = environments;
const token = ['token', '--caller', identityId, '--environment', other.name];
it.each<[words: readonly string[], outputs: object | string, message: RegExp]>([
  [token, { One: {} }, new RegExp(`environment ${other.name} .stack ${other.stackId}.\\. It has: One\\.`)],
  [['origins'], { Other: {} }, /has no outputs of any environment\. It has: Other/],
  // Nothing of it is printed: it may be a file with a password.
  [
    ['origins'],
    '"password"',
    /^(?!.*password).*\.json is not a JSON object\.\nWith --outputs, name the file/s,
  ],
])('%j states what is wrong with the outputs %j', async (words, content, message) => {
  const printed = await wallet(...words, '--outputs', writeOutputs(folder(), content));
  expect(printed).toEqual({ exitCode: 1, stdout: '', stderr: expect.stringMatching(message) });
});

it('says that the outputs file is missing, and once that nothing runs on this machine', async () => {
  const named = await wallet('smoke', '--outputs', '/nowhere.json');
  expect(named.stderr).toMatch(/^error: Cannot read \S+: no such file or directory\.\nWith --outputs.*\n$/);
  const missing = jest.spyOn(fs, 'existsSync').mockReturnValue(false);
  const printed = await wallet('smoke');
  missing.mockRestore();
  const said = /^error: No environments run on this machine.\nStart them: npm start\n.* with --outputs.\n$/;
  expect(printed).toEqual({ exitCode: 1, stdout: '', stderr: expect.stringMatching(said) });
});

it('recognizes options that npm consumed', async () => {
  const variables = { npm_config_environment: other.name };
  const stderr = 'error: npm took --environment as its own. Run ./wallet …, or npm run -s wallet -- …\n';
  expect(await runWallet(['smoke'], { variables })).toEqual({ exitCode: 2, stdout: '', stderr });
  const help = await runWallet(['origins', '--help'], { variables: { npm_config_yes: 'true' } });
  expect(help.exitCode).toBe(0);
});

const caller = ['--caller', identityId];
it.each([
  [['delete-group', '--grop', 'x', ...caller], "unknown option '--grop'\n(Did you mean --group?)"],
  [['webhook', 'add', '--url', 'x', '--organisation', 'x'], '(Did you mean --organization?)'],
  [['smoke', first.name], 'too many arguments'],
  [['delete-group', ...caller], "required option '--group <id>' not specified"],
  [['delete-group', '--group', 'x', ...caller], "argument 'x' is invalid. Give an id such as ug-"],
  [['--environment', first.name, 'smoke'], "unknown option '--environment'"],
  [['webhook', 'ad', '--webhook', webhookId], "unknown command 'ad'\n(Did you mean add?)"],
])('tells the slip in %j', async (args, message) => {
  const printed = await wallet(...args);
  expect(printed).toEqual({ exitCode: 2, stdout: '', stderr: expect.stringContaining(message) });
});

it('a bug exits with 1, and prints its stack trace', async () => {
  const notes: string[] = [];
  const fail = () => {
    throw new TypeError('a bug');
  };
  const terminal = { ...silent, result: fail, note: (line: string) => notes.push(line) };
  const outputs = writeOutputs(folder(), { [first.stackId]: { WebhookOriginAddress: '203.0.113.7' } });
  expect(await runCommandLine(['origins', '--outputs', outputs], terminal)).toBe(1);
  expect(notes.join('\n')).toMatch(/error: this is a bug of the command line\.\nTypeError: a bug\n {4}at /);
});

const help = async (...words: readonly string[]) => {
  const printed = await wallet(...words, '--help');
  expect([printed.exitCode, printed.stdout.split('\n').filter((line) => line.length > 80)]).toEqual([0, []]);
  // Defaults as a person writes them.
  expect(printed.stdout).not.toMatch(/default: \d{4}-\d\d-/);
  expect(printed.stdout).toMatch(/^(?!.*Exit codes)|Exit codes: 0 .*\s1 .*\s2\s/s);
  return printed;
};

it('help prints the help of a command or group, in 80 columns, and --version the version', async () => {
  for (const words of [[], ['webhook'], ['local']]) await help(...words);
  const printed = await help('webhook', 'add');
  expect(await wallet('webhook', 'help', 'add')).toEqual(printed);
  expect(printed.stdout).toMatch(new RegExp(`default:\\s+"${first.name}"`));
  expect((await wallet('--version')).stdout).toBe(`${version}\n`);
});

it('printed commands select the environment', () => {
  const deployed = { environment: 'other', outputs: "/srv/it's/o.json" };
  expect(walletCommand('smoke', deployed)).toBe(
    `./wallet smoke --environment other --outputs '/srv/it'"'"'s/o.json'`,
  );
  const local = { environment: first.name, outputs: resolve(__dirname, '../../.local/outputs.json') };
  expect(walletCommand('smoke', local)).toBe('./wallet smoke');
});

it('prints its own colours, only on a terminal, and escapes all other controls', async () => {
  const written: string[] = [];
  const output = { write: (text: string) => written.push(text) };
  const { result, note, bold, alarm } = createTerminal({ ...output, hasColors: () => true }, output);
  result(`${bold('x')} \x1b[31mred`);
  note(`${alarm('y')} \x07`);
  expect(written).toEqual(['\x1b[1mx\x1b[22m \\u001b[31mred\n', 'y \\u0007\n']);
  expect(table([['A'], ['one\ntwo']], silent)).toBe('A\none\\u000atwo');
  expect((await wallet('\x1b[2J')).stderr).toContain("unknown command '\\u001b[2J'");
});

const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const jwt = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1cyJ9.c2lnbmF0dXJl';
it.each([
  [['receive', '--scret=hunter2hunter2'], 'hunter2'],
  [[secret], secret],
  [['webhook', 'add', '--url', 'https://user:hunter2@hooks.customer.com/'], 'hunter2'],
  [['token', '--caller', jwt], jwt],
])('does not print a secret on the command line: %j', async (args, hidden) => {
  const { exitCode, stdout, stderr } = await wallet(...args);
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringMatching(/^error: /) });
  expect(stdout + stderr).not.toContain(hidden);
});

const placeholderOf = ({ flags }: Option) => /<(.+)>$/.exec(flags)?.[1] ?? '';

/** Invalid values for each placeholder. An option with choices refuses all others. */
const refused: Readonly<Record<string, readonly string[]>> = {
  duration: ['', '-1s', '5x', '5 m', '1h30m', '1e3', '0', 'Infinity', 'soon', '999999d'],
  file: [''],
  folder: [''],
  id: ['', 'a.b', '../..', `${identityId}'`, 'a'.repeat(65), `.${identityId}`],
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

it.each(walletCommands)('wallet %s marks required options, refuses invalid values', async (path, command) => {
  const words = path.split(' ');
  const { stdout } = await help(...words);
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

it('a table that is wider than the terminal becomes a block for each row, without its empty cells', () => {
  const rows = ['WEBHOOK URL', 'wh-1 https://a', 'wh-2 '].map((row) => row.split(' '));
  const blocks = 'webhook  wh-1\nurl      https://a\n\nwebhook  wh-2';
  expect(table(rows, { bold: String, width: 10 })).toBe(blocks);
});

it('a time may be an age', () => {
  const now = jest.spyOn(Date, 'now').mockReturnValue(Date.UTC(2026, 10, 28));
  for (const [age, seconds] of Object.entries({ '90s': 90, '5m': 300, '1.5h': 5_400, '2d': 172_800 }))
    expect([age, Date.now() - Date.parse(time(age))]).toEqual([age, 1_000 * seconds]);
  now.mockRestore();
});
