import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { commandTree } from '../../cli/completion/command-tree';
import { createProgram } from '../../cli/program';
import { newId } from '../../lambda/shared/ids';
import { environments } from '../../lib/environments';
import { version } from '../../package.json';
import { writeOutputs } from '../support/outputs-file';
import { withSla } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { organizationId, wallet } from './region';

const silent = { result() {}, note() {}, bold: String, bad: String, alarm: String };
const program = createProgram(silent);

interface Leaf {
  readonly path: string;
  readonly command: Command;
}

/** The commands that do something, with their words. */
const leaves = (command: Command, path: readonly string[] = []): readonly Leaf[] =>
  command.commands.length === 0
    ? [{ path: path.join(' '), command }]
    : command.commands.flatMap((each) => leaves(each, [...path, each.name()]));
const all = leaves(program);
const optionsOf = ({ command }: Leaf) => command.options.map(({ long }) => long);

/** They read the whole outputs file, a stack, or nothing. */
const withoutEnvironment = ['environments', 'plan', 'completion'];
/** They ask the account, or know of no deployment. */
const withoutOutputs = ['preflight', 'plan', 'outputs', 'drift', 'completion'];
/** They print a file: a script, JSON. */
const withoutFacts = ['outputs', 'completion'];

const each = all.map((leaf) => [leaf.path, leaf] as const);
const documented = readFileSync(join(__dirname, '../../docs/command-line.md'), 'utf8');
const folder = temporaryFolder();

it('has commands', () => {
  expect(all.map(({ path }) => path)).toEqual(expect.arrayContaining(['seed', 'webhook add', 'smoke']));
});

it.each(program.commands.map((command) => [command.name(), command] as const))(
  '%s is the same when the others are not loaded',
  (name, command) => {
    const { commands } = createProgram(silent, {}, name);
    const [alone] = name === 'completion' ? commands.slice(-1) : commands;
    expect(commands.length).toBe(name === 'completion' ? program.commands.length : 1);
    expect(alone?.helpInformation()).toBe(command.helpInformation());
  },
);

describe.each(each)('wallet %s', (path, leaf) => {
  it('says what it does: a summary for the list, and a sentence', () => {
    expect(leaf.command.summary()).toMatch(/^[a-z].*[^.]$/);
    expect(leaf.command.description()).toMatch(/^[A-Z].*\.$/);
  });

  it('shows examples of itself with --help, whose options exist', async () => {
    const { exitCode, stdout } = await wallet(...path.split(' '), '--help');
    expect(exitCode).toBe(0);
    const examples = stdout.slice(stdout.indexOf('\nExamples:\n')).split('\n').slice(2);
    const own = examples.filter((line) => new RegExp(`wallet (-- )?${path}( |$)`).test(line));
    expect(own.length).toBeGreaterThan(0);
    const flags = own.flatMap((line) => /wallet (?:-- )?(\S.*)/.exec(line)?.[1]?.match(/--[a-z-]+/g) ?? []);
    expect(flags.filter((flag) => !optionsOf(leaf).includes(flag))).toEqual([]);
  });

  it('describes every option, each with one long name', () => {
    for (const { long, short, description } of leaf.command.options) {
      expect(long).toMatch(/^--[a-z]+(-[a-z]+)*$/);
      expect(short).toBeUndefined();
      expect(description).toMatch(/^[a-z-]/i);
    }
  });

  it('takes the options that are common to all', () => {
    const common = ['--outputs', '--environment', '--json'].filter((flag) => optionsOf(leaf).includes(flag));
    const due = [
      ...(withoutOutputs.includes(path) ? [] : ['--outputs']),
      ...(withoutEnvironment.includes(path) ? [] : ['--environment']),
      ...(withoutFacts.includes(path) ? [] : ['--json']),
    ];
    expect(common).toEqual(due);
  });

  it('is suggested when it is mistyped', async () => {
    const { exitCode, stderr } = await wallet(...`${path}x`.split(' '));
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`(Did you mean ${leaf.command.name()}?)`);
  });

  it('is told of in docs/command-line.md', () => {
    expect(documented).toMatch(new RegExp(`\\| \`${path}[ \`]`));
  });
});

const writing: Readonly<Record<string, readonly string[]>> = {
  seed: [],
  'send-event': ['--organization', organizationId, '--kind', 'wallet.created'],
  smoke: ['--without-webhook'],
  'webhook add': ['--organization', organizationId, '--url', 'https://hooks.customer.com/wallet'],
  'webhook remove': ['--webhook', newId('wh')],
  'webhook update': ['--webhook', newId('wh'), '--all-kinds'],
};

it('what writes to deployed production does so only when told to', async () => {
  const guarded = all.filter((leaf) => optionsOf(leaf).includes('--allow-production'));
  expect(guarded.map(({ path }) => path).sort()).toEqual(Object.keys(writing));
  const outputs = writeOutputs(folder(), { [withSla.stackId]: {} });
  const place = ['--environment', withSla.name, '--outputs', outputs];
  for (const [path, args] of Object.entries(writing)) {
    const printed = await wallet(...path.split(' '), ...args, ...place);
    expect({ path, ...printed }).toMatchObject({ path, exitCode: 1, stdout: '' });
    expect(printed.stderr).toContain(`Environment ${withSla.name} is in production`);
    expect(printed.stderr).toContain('--allow-production');
  }
});

it('the same options are described alike everywhere', () => {
  const described = new Map<string, Set<string>>();
  for (const { command } of all) {
    for (const { long, flags } of command.options) {
      const known = described.get(String(long)) ?? new Set();
      described.set(String(long), known.add(flags));
    }
  }
  expect([...described].filter(([, flags]) => flags.size > 1)).toEqual([]);
});

it('suggests an option that may have been meant', async () => {
  const { exitCode, stderr } = await wallet('seed', '--enviroment', 'any');
  expect(exitCode).toBe(2);
  expect(stderr).toContain('(Did you mean --environment?)');
});

it('prints its version', async () => {
  expect(await wallet('--version')).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: '' });
});

describe('what completion knows', () => {
  const tree = commandTree(program);
  const at = (path: string) => tree.find((command) => command.path === path);
  const values = (path: string, flag: string) =>
    at(path)?.options.find((option) => option.flag === flag)?.values;

  it('commands and those of a group', () => {
    expect(at('')?.words.map(({ word }) => word)).toEqual(
      expect.arrayContaining(['seed', 'webhook', 'help']),
    );
    expect(at('webhook')?.words.map(({ word }) => word)).toEqual(expect.arrayContaining(['add', 'rotate']));
  });

  it('environments, formats, shells and files', () => {
    expect(values('seed', '--environment')).toEqual(environments.map(({ name }) => name));
    expect(values('origins', '--environment')).toEqual(environments.map(({ name }) => name));
    expect(values('origins', '--format')).toContain('nftables');
    expect(at('completion')?.words.map(({ word }) => word)).toEqual(['bash', 'zsh', 'fish']);
    expect(values('webhook add', '--outputs')).toBe('file');
    expect(values('seed', '--json')).toBe('none');
    expect(values('token', '--caller')).toBe('any');
  });

  it.each(['bash', 'zsh', 'fish'])('every command and option is in the script for %s', async (shell) => {
    const { stdout } = await wallet('completion', shell);
    for (const { path, options } of tree) {
      expect(stdout).toContain(path);
      for (const { flag } of options)
        expect(stdout).toContain(shell === 'fish' ? `-l ${flag.slice(2)}` : flag);
    }
  });

  it('no other shell', async () => {
    expect(await wallet('completion', 'tcsh')).toMatchObject({ exitCode: 2, stdout: '' });
  });
});
