import { Command, CommanderError } from 'commander';
import { isInvalidInput } from '../domain/invalid-input';
import { takenByNpm } from '../domain/shell';
import { version } from '../package.json';
import { CommandFailed, UsageError } from './shell/failure';
import type { Terminal } from './shell/terminal';

type Register = (program: Command, terminal: Terminal) => void;
type Commands = Readonly<Record<string, () => { readonly register: Register }>>;

/** Commands for development and tests. `local` may be left out, for compatibility. */
const localCommands: Commands = {
  seed: () => require('./callers/seed'),
  token: () => ({ register: require('./callers/token').registerToken }),
  'user-action': () => ({ register: require('./callers/token').registerUserAction }),
  'send-event': () => require('./webhooks/send-event'),
  receive: () => require('./webhooks/receive'),
};

const registerLocal: Register = (program, terminal) => {
  const group = program
    .command('local')
    .usage('COMMAND [options]')
    .summary('create test data, sign tokens, send events, receive webhooks')
    .description('For development and tests: test data, tokens, events and a webhook receiver.');
  for (const load of Object.values(localCommands)) load().register(group, terminal);
};

const commands: Readonly<Record<string, Commands>> = {
  'Environments:': {
    smoke: () => require('./smoke'),
    local: () => ({ register: registerLocal }),
  },
  'Deployments:': {
    preflight: () => require('./deployments/preflight'),
    plan: () => require('./deployments/plan'),
    outputs: () => require('./deployments/outputs'),
    residency: () => require('./deployments/residency'),
  },
  'User groups:': {
    'delete-group': () => require('./callers/delete-group'),
    audit: () => require('./callers/audit'),
  },
  'Webhooks:': {
    webhook: () => require('./webhooks/webhook'),
    deliveries: () => require('./webhooks/deliveries'),
    redeliver: () => require('./webhooks/redeliver'),
  },
  'Webhook origin address:': {
    origins: () => require('./origin/origins'),
    'origin-status': () => require('./origin/origin-status'),
    'move-origin': () => require('./origin/move-origin'),
  },
};

const help = `
On this machine, while "npm start" runs:
  ./wallet smoke            deletes a user group and delivers a webhook
  ./wallet local seed       creates a user group and identities to delete it
  ./wallet local receive    in another terminal: prints received webhooks

On a deployed environment:
  ./wallet preflight --environment uae      before each, after "npm run synth"
  ./wallet outputs --environment uae --write outputs.json
  ./wallet smoke --environment uae --outputs outputs.json --allow-production

Each command's permissions are in docs/operating.md#iam-permissions. Results go to stdout, everything else to stderr;
--json prints machine-readable results; those of "outputs" always are. Colors appear only on a terminal, and never with NO_COLOR=1.

Exit codes: 0 success, 1 failure (stderr has the reason and the remedy), 2 usage error.`;

/** @param only the command to load: loading all doubles the start-up time. @default - all */
export function createProgram(terminal: Terminal, only?: string): Command {
  const program = new Command('wallet')
    .description('Operates environments of the wallet infrastructure, local or deployed.')
    .usage('COMMAND [options]')
    .version(version, '--version', 'print the version of this command line')
    .helpOption('-h, --help', 'print this help')
    .commandsGroup('This command line:')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText('after', help)
    .showHelpAfterError('Add --help for the commands and their options.')
    .configureHelp({
      optionTerm: ({ flags, mandatory }) => `${flags}${mandatory ? ' (required)' : ''}`,
    })
    .exitOverride()
    .configureOutput({
      getOutHelpWidth: () => helpWidth,
      writeOut: (text) => terminal.result(flow(text.trimEnd())),
      writeErr: (text) => terminal.note(text.trimEnd()),
      outputError: (text, write) => write(terminal.alarm(withoutSecrets(text))),
    });
  const exists = Object.values(commands).some((group) => Object.hasOwn(group, only ?? ''));
  for (const [heading, group] of Object.entries(commands)) {
    program.commandsGroup(heading);
    for (const [name, load] of Object.entries(group))
      if (!exists || name === only) load().register(program, terminal);
  }
  return program;
}

const helpWidth = 80;

/** Paragraphs in lines that fit; commander wraps the rest. */
const flow = (text: string): string =>
  text.replace(/^\S.*(\n\S.*)*/gm, (paragraph) =>
    paragraph
      .replaceAll('\n', ' ')
      .replace(new RegExp(`(.{1,${helpWidth}})(?: +|$)`, 'g'), '$1\n')
      .trimEnd(),
  );

/** Commander prints an unknown option with its value, and an unknown command. */
const withoutSecrets = (text: string) =>
  text.replace(/(unknown option '[^'=]*=)[^']*/, '$1…').replace(/whsec_[\w+/=-]+|\beyJ[\w-]+\.[\w.-]+/g, '…');

/** A command that does nothing, and needs no option or value of one. */
function withoutDemands(command: Command): Command {
  for (const option of command.options)
    Object.assign(option, { mandatory: false, parseArg: undefined, conflictsWith: [] });
  for (const each of command.commands) withoutDemands(each);
  return command.commands.length === 0 ? command.action(() => undefined) : command;
}

/** Runs one command. @returns the exit code of the process: 0, 1 (failure) or 2 (usage error) */
export async function runCommandLine(
  args: readonly string[],
  terminal: Terminal,
  variables: Readonly<Record<string, string | undefined>> = {},
): Promise<number> {
  const name = args.find((word) => word !== 'help') ?? '';
  const isLocal = Object.hasOwn(localCommands, name);
  const words = isLocal ? args.toSpliced(args.indexOf(name), 0, 'local') : args;
  try {
    const program = createProgram(terminal, isLocal ? 'local' : name);
    const named = (command: Command, word: string) => command.commands.find((each) => each.name() === word);
    const command = words.reduce((found, word) => named(found, word) ?? found, program);
    const taken = takenByNpm(command.options, variables);
    if (taken)
      throw new UsageError(`npm took ${taken} as its own. Run ./wallet …, or npm run -s wallet -- …`);
    // First for misspelt options: commander would report a missing or wrong one before them, which they may be.
    const lenient = withoutDemands(createProgram(terminal, isLocal ? 'local' : name));
    if (!words.some((word) => /^(help|-h|--help)$/.test(word)))
      await lenient.parseAsync(words, { from: 'user' });
    await program.parseAsync(words, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has already printed its message. Its exit code is 1 for usage errors, 0 for help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const failure = isInvalidInput(error)
      ? new CommandFailed(error.message)
      : error instanceof CommandFailed
        ? error
        : undefined;
    terminal.note(terminal.alarm(`error: ${failure?.message ?? 'this is a bug of the command line.'}`));
    const details = failure ? failure.remedy : error instanceof Error ? error.stack : String(error);
    if (details) terminal.note(details);
    return failure?.exitCode ?? 1;
  }
}
