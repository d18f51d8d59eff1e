import { createProgram } from '../../cli/program';
import { newId } from '../../domain/ids';
import { version } from '../../package.json';
import { writeOutputs } from '../support/outputs-file';
import { withSla } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { flagsOf, walletCommands } from '../support/wallet-commands';
import { organizationId, wallet } from './region';

const silent = { result() {}, note() {}, bold: String, bad: String, alarm: String };
const program = createProgram(silent);

/** It takes a stack. */
const withoutEnvironment = ['plan'];
/** They ask the account. */
const withoutOutputs = ['preflight', 'plan', 'outputs'];
/** It prints JSON anyway. */
const withoutFacts = ['outputs'];

const folder = temporaryFolder();

it('has commands', () => {
  expect(walletCommands.map(([path]) => path)).toEqual(
    expect.arrayContaining(['local seed', 'webhook add', 'smoke']),
  );
});

it.each(program.commands.map((command) => [command.name(), command] as const))(
  '%s is the same when the others are not loaded',
  (name, command) => {
    const { commands } = createProgram(silent, {}, name);
    expect(commands.map((each) => each.name())).toEqual([name]);
    expect(commands[0]?.helpInformation()).toBe(command.helpInformation());
  },
);

describe.each(walletCommands)('wallet %s', (path, command) => {
  it('says what it does: a summary for the list, and a sentence', () => {
    expect(command.summary()).toMatch(/^[a-z].*[^.]$/);
    expect(command.description()).toMatch(/^[A-Z].*\.$/);
  });

  it('shows examples of itself with --help, whose options exist', async () => {
    const { exitCode, stdout } = await wallet(...path.split(' '), '--help');
    expect(exitCode).toBe(0);
    const examples = stdout.slice(stdout.indexOf('\nExamples:\n')).split('\n').slice(2);
    const own = examples.filter((line) => new RegExp(`wallet ${path}( |$)`).test(line));
    expect(own.length).toBeGreaterThan(0);
    const flags = own.flatMap((line) => /wallet (\S.*)/.exec(line)?.[1]?.match(/--[a-z-]+/g) ?? []);
    expect(flags.filter((flag) => !flagsOf(path)?.includes(flag))).toEqual([]);
  });

  it('describes every option, each with one long name', () => {
    for (const { long, short, description } of command.options) {
      expect(long).toMatch(/^--[a-z]+(-[a-z]+)*$/);
      expect(short).toBeUndefined();
      expect(description).toMatch(/^[a-z-]/i);
    }
  });

  it('takes the options that are common to all', () => {
    const common = ['--outputs', '--environment', '--json'].filter((flag) => flagsOf(path)?.includes(flag));
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
    expect(stderr).toContain(`(Did you mean ${command.name()}?)`);
  });
});

const writing: Readonly<Record<string, readonly string[]>> = {
  'delete-group': ['--group', newId('ug'), '--caller', newId('us')],
  'local seed': [],
  'local send-event': ['--organization', organizationId, '--kind', 'wallet.created'],
  smoke: ['--without-webhook'],
  'webhook add': ['--organization', organizationId, '--url', 'https://hooks.customer.com/wallet'],
  'webhook remove': ['--webhook', newId('wh')],
  'webhook update': ['--webhook', newId('wh'), '--all-kinds'],
};

it('what writes to deployed production does so only when told to', async () => {
  const guarded = walletCommands.filter(([path]) => flagsOf(path)?.includes('--allow-production'));
  expect(guarded.map(([path]) => path).sort()).toEqual(Object.keys(writing));
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
  for (const [, command] of walletCommands) {
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
