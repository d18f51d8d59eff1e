import { Command } from 'commander';
import { version } from '../package.json';
import type { Terminal } from './terminal';

type Variables = Readonly<Record<string, string | undefined>>;
type Register = (program: Command, terminal: Terminal, variables: Variables) => void;

/** By the headings of the help, in its order. Each command is loaded when it is needed: all of them take half of its time. */
const commands: Readonly<Record<string, Readonly<Record<string, () => { readonly register: Register }>>>> = {
  'Environments:': {
    smoke: () => require('./smoke/command'),
  },
  'Deployments:': {
    preflight: () => require('./preflight/command'),
    plan: () => require('./deployment/plan'),
    outputs: () => require('./deployment/outputs'),
  },
  'User groups:': {
    seed: () => require('./seed'),
    token: () => require('./token'),
    'user-action': () => require('./user-action'),
    'delete-group': () => require('./delete-group'),
    audit: () => require('./audit'),
  },
  'Webhooks:': {
    webhook: () => require('./webhook/command'),
    receive: () => require('./receive/command'),
    'send-event': () => require('./send-event'),
    deliveries: () => require('./deliveries'),
    redeliver: () => require('./redeliver/command'),
  },
  'The address that webhooks come from:': {
    origins: () => require('./origins'),
    'origin-status': () => require('./origin/origin-status'),
    'move-origin': () => require('./origin/move-origin'),
  },
};

const help = `
Every command has its own --help, with examples. There, "wallet" stands for "npm run -s wallet --": without -s, npm
writes lines to stdout, which breaks $(…).

A first deletion, on this machine:
  npm start                                         in another terminal, until it says "ready"
  npm run -s wallet -- seed                         makes a user group and those who may delete it
  npm run -s wallet -- delete-group --group ug-… --caller us-…

A first webhook, on this machine:
  npm run -s wallet -- receive                      in another terminal: prints what arrives
  npm run -s wallet -- webhook add --organization or-… --url http://127.0.0.1:8010/
  npm run -s wallet -- send-event --organization or-… --kind wallet.created --data '{"walletId":"wa-1"}'

Both at once, with a verdict:
  npm run -s wallet -- smoke

On a deployed environment:
  AWS_PROFILE=wallet-uae npm run -s wallet -- preflight --environment uae       before each deployment
  npx cdk deploy WalletUae --outputs-file outputs.json
  npm run -s wallet -- origins --outputs outputs.json --environment uae --format nginx
  AWS_PROFILE=wallet-uae npm run -s wallet -- seed --environment uae --outputs outputs.json --allow-production

Results go to stdout, everything else to stderr; --json prints results for programs. Colours appear on a terminal
alone, and never with NO_COLOR=1.

Exit codes: 0 done, 1 failed (stderr says why and what to do), 2 used wrongly.`;

/**
 * The command line: `bin/wallet.ts` runs it, and tests read its tree.
 *
 * @param variables such as `process.env`. @default - none
 * @param first the first word that was typed: if it is a command, the others are left out. @default - all are there
 */
export function createProgram(terminal: Terminal, variables: Variables = {}, first = ''): Command {
  const program = new Command('wallet')
    .description('Operates the environments of the wallet infrastructure, on this machine or deployed.')
    .usage('COMMAND [options]')
    .version(version, '--version', 'print the version of this command line')
    .helpOption('-h, --help', 'print this help')
    .commandsGroup('This command line:')
    .helpCommand('help [command...]', 'print the help of a command')
    .addHelpText('after', help)
    .showHelpAfterError('Add --help for the options and examples.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.result(text.trimEnd()),
      writeErr: (text) => terminal.note(text.trimEnd()),
      outputError: (text, write) => write(terminal.alarm(withoutSecrets(text))),
    });
  const isAlone = Object.values(commands).some((group) => Object.hasOwn(group, first));
  for (const [heading, group] of Object.entries(commands)) {
    program.commandsGroup(heading);
    for (const [name, load] of Object.entries(group))
      if (!isAlone || name === first) load().register(program, terminal, variables);
  }
  return program;
}

/** Commander states an unknown option with its value, and an argument that is out of place. */
const withoutSecrets = (text: string) =>
  text.replace(/(unknown option '[^'=]*=)[^']*/, '$1…').replace(/whsec_[\w+/=-]+|\beyJ[\w-]+\.[\w.-]+/g, '…');
