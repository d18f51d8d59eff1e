import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { kindOfAddress } from './allow-lists/address';
import { defaultOptions, namePattern, type WebhookOrigin } from './allow-lists/allow-list';
import { type AllowListComparison, compareAllowList, type ExpectedAddress } from './allow-lists/comparison';
import {
  type AllowListFormatName,
  allowListFormatNames,
  allowListFormats,
  formatAllowList,
} from './allow-lists/formats';
import { CommandFailed, UsedWrongly } from './failure';
import { environment, path, port, withOutputs } from './options';
import { apiAddress, readDeployedOrigins, readPublishedOrigin } from './origin-sources';
import { type Terminal, table } from './terminal';

interface OriginsOptions {
  readonly outputs: string;
  /** Base address of an API that publishes its own. Absent: from the outputs file. */
  readonly from?: string;
  /** Absent: all that the outputs file has. */
  readonly environment?: string;
  readonly format?: AllowListFormatName;
  readonly port: number;
  readonly name: string;
  readonly check?: string;
  readonly json?: boolean;
}

const help = `
Formats:
${allowListFormatNames.map((name) => `  ${name.padEnd(19)} ${allowListFormats[name].title}`).join('\n')}
How to use a file is said in its first lines or, where the format has no comments, on stderr.

--check answers with its exit code: 0 the list has these addresses and no others, 1 it differs, 2 used wrongly.
An entry that covers an address and more (203.0.113.0/24) counts as present and is reported as broader.
A list without a reserve address, from which webhooks come in an announced emergency only, is reported and answers 0.

Examples:
  wallet origins --from https://api.example.com --format nginx > /etc/nginx/wallet-webhooks.conf
  wallet origins --outputs outputs.json --format nftables --port 8443
  wallet origins --outputs outputs.json --environment eu --check /etc/nginx/wallet-webhooks.conf
  iptables-save | wallet origins --outputs outputs.json --environment eu --check - --json`;

export function register(program: Command, terminal: Terminal): void {
  withOutputs(program.command('origins'))
    .summary("print the webhooks' origin addresses as an allow-list, or check one")
    .description(
      'Prints the addresses from which webhooks come as an allow-list, or checks a list that is in use.',
    )
    .addOption(environment('only this one; all that the outputs file has when left out'))
    .addOption(
      new Option(
        '--from <source>',
        'base address (URL) of the API that publishes the addresses; needs no outputs',
      )
        .conflicts(['outputs', 'environment'])
        .argParser(apiAddress),
    )
    .addOption(new Option('--format <format>', 'what to print (default: text)').choices(allowListFormatNames))
    .option(
      '--port <port>',
      'the port that receives webhooks, for formats with ports',
      port(1),
      defaultOptions.port,
    )
    .option('--name <name>', 'what to call the rules, for formats with names', ruleName, defaultOptions.name)
    .addOption(
      new Option('--check <file>', 'compare this list with the addresses; - is stdin')
        .argParser(path)
        .conflicts(['format', 'port', 'name']),
    )
    .addHelpText('after', help)
    .action((options: OriginsOptions) => origins(options, terminal));
}

async function origins(options: OriginsOptions, terminal: Terminal): Promise<void> {
  const { from, outputs, environment } = options;
  const listed = from
    ? [await readPublishedOrigin(from)]
    : await readDeployedOrigins({ outputs, environment }, terminal);
  for (const warning of new Set(listed.flatMap(warningsOf))) terminal.note(`warning: ${warning}`);
  if (options.check !== undefined) return check(options.check, listed, options, terminal);

  const name = options.format ?? (options.json ? 'json' : 'text');
  if (options.json && name !== 'json') {
    throw new UsedWrongly(`--json and --format ${name} contradict each other.`, 'Give one of them.');
  }
  terminal.result(formatAllowList(name, listed, options));
  if (!allowListFormats[name].hasHeader && name !== 'json')
    terminal.note(`Use: ${allowListFormats[name].use}`);
}

async function check(
  file: string,
  listed: readonly WebhookOrigin[],
  options: OriginsOptions,
  terminal: Terminal,
): Promise<void> {
  const comparison = compareAllowList(await readList(file), listed);
  terminal.result(options.json ? JSON.stringify(comparison) : report(comparison, terminal));
  for (const { cidr, environment } of comparison.missingReserves ?? [])
    terminal.note(
      `warning: the reserve ${cidr} of ${environment} is missing: in an emergency that is announced, no webhook would arrive. Add it.`,
    );
  if (comparison.same) return;
  throw new CommandFailed(
    `${file === '-' ? 'The list' : file} differs: ${comparison.missing.length} missing, ${comparison.stale.length} stale.`,
    'Add what is missing, or no webhook arrives; remove what is stale.',
  );
}

function report(
  { present, missing, missingReserves = [], stale, broader }: AllowListComparison,
  { bold }: Terminal,
): string {
  const rows = [
    ...[...missing, ...missingReserves].map((address) => ['missing', address.cidr, owner(address)]),
    ...stale.map((entry) => ['stale', entry, '']),
    ...broader.map(({ entry, covers }) => ['broader', entry, `covers ${named(covers)}`]),
    ...present.map((address) => ['present', address.cidr, owner(address)]),
  ];
  return table([['', 'ADDRESS', 'ENVIRONMENT'], ...rows], bold);
}

const named = (addresses: readonly ExpectedAddress[]) =>
  addresses.map((address) => `${address.cidr} (${owner(address)})`).join(', ');

const owner = ({ environment, reserve }: ExpectedAddress) =>
  reserve ? `${environment}, reserve` : environment;

async function readList(file: string): Promise<string> {
  try {
    return await (file === '-' ? readAll(process.stdin) : readFile(file, 'utf8'));
  } catch (error) {
    throw new UsedWrongly(`The list ${file} cannot be read: ${(error as Error).message}.`);
  }
}

const warningsOf = ({ address, reserve }: WebhookOrigin): string[] =>
  [address, ...(reserve ? [reserve] : [])].flatMap((each) => {
    const kind = kindOfAddress(each);
    if (kind === 'loopback') return [`${each} is this machine itself: the list is good for trying out only.`];
    if (kind === 'documentation') return [`${each} is reserved for documentation: nothing comes from it.`];
    return [];
  });

function ruleName(value: string): string {
  if (namePattern.test(value)) return value;
  throw new InvalidArgumentError(
    'Give 2 to 28 lower-case letters, digits and hyphens: a letter first, no hyphen last.',
  );
}
