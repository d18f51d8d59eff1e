import { Command, CommanderError, type Option } from 'commander';
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

/** Keyed by heading, in the order of --help. */
const commands: Readonly<Record<string, Commands>> = {
  'Environments:': {
    smoke: () => require('./smoke'),
    local: () => ({ register: registerLocal }),
  },
  'Deployments:': {
    preflight: () => require('./deployments/preflight'),
    plan: () => require('./deployments/plan'),
    outputs: () => require('./deployments/outputs'),
    availability: () => require('./deployments/availability'),
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
--json prints machine-readable results. Colors appear only on a terminal, and never with NO_COLOR=1.

Exit codes: 0 success, 1 failure (stderr has the reason and the remedy), 2 usage error.`;

/** @param only the command to load: loading all doubles the start-up time. @default - all */
export function createProgram(terminal: Terminal, only?: string): Command {
  const program = new Command('wallet')
    .description('Operates environments of the wallet infrastructure, local or deployed.')
    .usage('COMMAND [options]')
    .version(version, '--version', 'print the version of this command line')
    .helpOption('-h, --help', 'print this help')
    .commandsGroup('This command line:')
    .helpCommand('help [command...]', 'print the help of a command')
    .addHelpText('after', help)
    .showHelpAfterError('Add --help for the options.')
    .configureHelp({
      optionTerm: ({ flags, mandatory }) => `${flags}${mandatory ? ' (required)' : ''}`,
      optionDescription: describeOption,
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
  for (const group of [program, ...program.commands.filter(isGroup)])
    group
      .showHelpAfterError('The command comes first, then its options. Add --help for the commands.')
      .hook('preSubcommand', nameSlipsFirst);
  return program;
}

/** Characters in a line. */
const helpWidth = 80;

/** Paragraphs in lines that fit; commander wraps the rest. */
const flow = (text: string): string =>
  text.replace(/^\S.*(\n\S.*)*/gm, (paragraph) =>
    paragraph
      .replaceAll('\n', ' ')
      .replace(new RegExp(`(.{1,${helpWidth}})(?: +|$)`, 'g'), '$1\n')
      .trimEnd(),
  );

const isGroup = ({ commands }: Command) => commands.length > 0;

function describeOption({ description, argChoices, defaultValue, defaultValueDescription }: Option): string {
  const choices = argChoices ? `: ${argChoices.join(', ')}` : '';
  const usual = defaultValueDescription ?? defaultValue;
  return `${description}${choices}${usual === undefined ? '' : ` (default: ${usual})`}`;
}

/**
 * An option that is misspelt, or a value without its option, explains a required option that is missing, and comes before a wrong
 * value.
 */
function nameSlipsFirst({ args }: Command, command: Command): void {
  const { operands, unknown } = slipsIn(args.slice(1), command.options);
  const isHelp = isGroup(command) || unknown.some((word) => /^(-h|--help)$/.test(word));
  if (isHelp || operands.length + unknown.length === 0) return;
  const [operand] = operands;
  const meant = command.options
    .filter((option) => operand && accepts(option, operand))
    .map(({ long }) => long);
  // Commander looks for these first.
  for (const option of command.options) Object.assign(option, { mandatory: false, parseArg: undefined });
  const [flag = ''] = unknown;
  const [full, ...others] = command.options.filter(
    ({ long }) => /^--\w/.test(flag) && long?.startsWith(flag),
  );
  // Commander looks for misspelt words only.
  if (full && others.length === 0)
    command.error(`error: unknown option '${flag}'\n(Did you mean ${full.long}?)`);
  if (flag) return;
  const hint = meant.length > 0 ? `\n(Did you mean ${meant.join(' or ')} ${operand}?)` : '';
  command.error(`error: unexpected argument '${operand}'${hint}`);
}

/** Words that are neither options of a command nor their values. */
function slipsIn(words: readonly string[], options: readonly Option[]) {
  const slips = { operands: [] as string[], unknown: [] as string[] };
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    const [flag = ''] = word.split('=');
    const option = options.find(({ long, short }) => flag === long || flag === short);
    if (!option) slips[/^-./.test(word) ? 'unknown' : 'operands'].push(word);
    else if (option.required && flag === word) index += 1;
  }
  return slips;
}

/** Whether a word is a value for an option that does not take just any. */
function accepts({ required, parseArg }: Option, word: string): boolean {
  const isValid = (text: string) => {
    try {
      return parseArg?.(text, undefined) !== undefined;
    } catch {
      return false;
    }
  };
  return required && isValid(word) && !isValid(' ');
}

/** The command that words name, the words of its name, and the others as Commander needs them. */
function findCommand(program: Command, words: readonly string[]) {
  let command = program;
  const path: string[] = [];
  const rest = [...words];
  let wantsHelp = false;
  for (let [word] = rest; word !== undefined && isGroup(command); [word] = rest) {
    const found = command.commands.find((each) => each.name() === word);
    if (!found && word !== 'help') break;
    rest.shift();
    if (found) path.push(word);
    command = found ?? command;
    wantsHelp ||= !found;
  }
  // With --help after an unknown command, Commander prints the help of the group.
  if (isGroup(command) && rest[0]?.startsWith('-') === false) rest.length = 1;
  else if (wantsHelp) rest.push('--help');
  return { command, path, rest };
}

/** Commander prints an unknown option with its value, and unexpected arguments. */
const withoutSecrets = (text: string) =>
  text.replace(/(unknown option '[^'=]*=)[^']*/, '$1…').replace(/whsec_[\w+/=-]+|\beyJ[\w-]+\.[\w.-]+/g, '…');

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
    const { command, path, rest } = findCommand(program, words);
    const [first = '', ...others] = rest;
    if (isGroup(command) && others.length > 0 && /^(-h|--help|--version)$/.test(first))
      throw new UsageError(`${first} stands alone.`, 'For the help of a command: ./wallet COMMAND --help');
    const taken = takenByNpm(command.options, variables);
    if (taken)
      throw new UsageError(
        `npm took ${taken} as its own. Run ./wallet ${path.join(' ')} …, or npm run -s wallet -- ${path.join(' ')} …`,
      );
    await program.parseAsync([...path, ...rest], { from: 'user' });
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
