import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { IPv4 } from 'ipaddr.js';
import {
  type AllowListFormat,
  allowListFormatNames,
  allowListFormats,
  formatAllowList,
  type WebhookOrigin,
} from '../domain/allow-list';
import { kindOfAddress } from './address';
import { CommandFailed, UsageError } from './failure';
import { environment, path, port, withOutputs } from './options';
import { openTarget, readEnvironments, type Target } from './target';
import { type Terminal, table } from './terminal';

interface OriginsOptions {
  readonly outputs: string;
  /** @default - all that the outputs file has */
  readonly environment?: string;
  readonly format?: AllowListFormat;
  readonly port: number;
  readonly check?: string;
  readonly json?: boolean;
}

const help = `
Formats:
${allowListFormatNames.map((name) => `  ${name.padEnd(19)} ${allowListFormats[name].title}`).join('\n')}

--check exits with 0 if the file has every address, and with 1 if one is missing; it lists the other addresses in the
file. It looks for IPv4 addresses and networks in the text: one in a comment or in a rule that denies it counts, too.
A missing reserve, from which webhooks come in an announced emergency only, is reported and no failure.

Examples:
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
    .addOption(new Option('--format <format>', 'what to print (default: text)').choices(allowListFormatNames))
    .option('--port <port>', 'the port that receives webhooks, for formats with ports', port(1), 443)
    .addOption(
      new Option('--check <file>', 'look for the addresses in this file; - is stdin')
        .argParser(path)
        .conflicts(['format', 'port']),
    )
    .addHelpText('after', help)
    .action((options: OriginsOptions) => origins(options, terminal));
}

async function origins(options: OriginsOptions, terminal: Terminal): Promise<void> {
  const { outputs, check, json, port } = options;
  const names = options.environment
    ? [options.environment]
    : (await readEnvironments(outputs)).map(({ name }) => name);
  const targets = await Promise.all(
    names.map((environment) => openTarget({ environment, outputs }, terminal)),
  );
  const listed = targets.map((target) => readOrigin(target, outputs));
  for (const warning of new Set(listed.flatMap(warnings))) terminal.note(`warning: ${warning}`);
  if (check !== undefined) return checkFile(check, listed, json === true, terminal);

  const format = options.format ?? (json ? 'json' : 'text');
  if (json && format !== 'json')
    throw new UsageError(`--json and --format ${format} contradict each other.`, 'Give one of them.');
  terminal.result(formatAllowList(format, listed, port));
  if (format !== 'json') terminal.note(`Use: ${allowListFormats[format].use}`);
}

function readOrigin(target: Target, file: string): WebhookOrigin {
  const { name, region, deprecation } = target.environment;
  // A file that somebody edited may have anything there, even no text.
  const usable = (output: string, address: unknown): string => {
    const kind = typeof address === 'string' ? kindOfAddress(address) : 'malformed';
    if (kind === 'public' || kind === 'documentation' || (kind === 'loopback' && target.local))
      return address as string;
    throw new CommandFailed(
      `${output} of ${name} in ${file} is ${JSON.stringify(address)}, which is no public IPv4 address.`,
      'Use the outputs file as "cdk deploy --outputs-file" or "npm start" wrote it; do not edit it.',
    );
  };
  const reserve = target.optionalOutput('WebhookOriginReserveAddress');
  return {
    environment: name,
    region,
    address: usable('WebhookOriginAddress', target.output('WebhookOriginAddress')),
    ...(reserve !== undefined && { reserve: usable('WebhookOriginReserveAddress', reserve) }),
    ...(deprecation && { deprecation }),
  };
}

const warnings = ({ address, reserve }: WebhookOrigin): string[] =>
  [address, ...(reserve ? [reserve] : [])].flatMap((each) => {
    const kind = kindOfAddress(each);
    if (kind === 'loopback') return [`${each} is this machine itself: the list is good for trying out only.`];
    if (kind === 'documentation') return [`${each} is reserved for documentation: nothing comes from it.`];
    return [];
  });

/** Not within a longer word or number, such as a version. */
const addressOrNetwork = /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?:\/\d{1,2})?(?![\w/]|\.\d)/g;

async function checkFile(
  file: string,
  listed: readonly WebhookOrigin[],
  json: boolean,
  terminal: Terminal,
): Promise<void> {
  const entries = new Set(
    Array.from((await readList(file)).matchAll(addressOrNetwork), ([entry]) =>
      entry.includes('/') ? entry : `${entry}/32`,
    ).filter((entry) => IPv4.isValidCIDR(entry)),
  );
  const networks = [...entries].map((entry) => IPv4.parseCIDR(entry));
  const addresses = listed.flatMap(({ environment, address, reserve }) => [
    { environment, cidr: `${address}/32`, reserve: false },
    ...(reserve ? [{ environment, cidr: `${reserve}/32`, reserve: true }] : []),
  ]);
  const found = addresses.map((each) => {
    const [address] = IPv4.parseCIDR(each.cidr);
    return { ...each, present: networks.some((network) => address.match(network)) };
  });
  const others = [...entries].filter((entry) => !addresses.some(({ cidr }) => cidr === entry));

  if (json) terminal.result(JSON.stringify({ addresses: found, others }));
  else {
    const rows = [
      ...found.map(({ present, cidr, environment, reserve }) => [
        present ? 'present' : 'missing',
        cidr,
        reserve ? `${environment}, reserve` : environment,
      ]),
      ...others.map((entry) => ['other', entry, '']),
    ];
    terminal.result(table([['', 'ADDRESS', 'ENVIRONMENT'], ...rows], terminal.bold));
  }
  const missing = found.filter(({ present }) => !present);
  for (const { cidr, environment } of missing.filter(({ reserve }) => reserve))
    terminal.note(
      `warning: the reserve ${cidr} of ${environment} is missing: in an announced emergency, no webhook would arrive. Add it.`,
    );
  const required = missing.filter(({ reserve }) => !reserve).map(({ cidr }) => cidr);
  if (required.length > 0)
    throw new CommandFailed(
      `${file === '-' ? 'The list' : file} does not have ${required.join(', ')}.`,
      'Add what is missing, or no webhook arrives.',
    );
}

async function readList(file: string): Promise<string> {
  try {
    return await (file === '-' ? readAll(process.stdin) : readFile(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`The list ${file} cannot be read: ${(error as Error).message}.`);
  }
}
