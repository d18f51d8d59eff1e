import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { IPv4 } from 'ipaddr.js';
import {
  type AllowListFormat,
  allowListFormatNames,
  allowListFormats,
  formatAllowList,
  type WebhookOrigin,
} from '../domain/allow-list';
import { environments } from '../lib/environments';
import { CommandFailed, UsageError } from './failure';
import { environment, number, path, withOutputs } from './options';
import { isPublicAddress } from './origin';
import { openTarget, readOutputs, type Target } from './target';
import { type Terminal, table } from './terminal';

interface OriginsOptions {
  readonly outputs: string;
  /** @default - all in the outputs file */
  readonly environment?: string;
  readonly format?: AllowListFormat;
  readonly port: number;
  readonly check?: string;
  readonly json?: boolean;
}

const help = `
Formats:
${allowListFormatNames.map((name) => `  ${name.padEnd(19)} ${allowListFormats[name].title}`).join('\n')}

--check exits with 0 if the file contains every address, and with 1 if one is missing. It also lists the other addresses
in the file. It searches the text for IPv4 addresses and networks: those in comments and deny rules count too.
A missing reserve address, which webhooks use only in an announced emergency, is a warning.`;

export function register(program: Command, terminal: Terminal): void {
  withOutputs(program.command('origins'))
    .summary('print the webhook origin addresses as an allow-list, or check one')
    .description('Print the webhook origin addresses as an allow-list, or check an existing one.')
    .addOption(environment('only this one (default: all in the outputs file)'))
    .addOption(
      new Option('--format <format>', 'output format (default: text)')
        .choices(allowListFormatNames)
        .conflicts('json'),
    )
    .option('--port <port>', "the receiver's port, for formats with ports", number(1, 65_535), 443)
    .addOption(
      new Option('--check <file>', 'check that this file contains the addresses')
        .argParser(path)
        .conflicts(['format', 'port']),
    )
    .addHelpText('after', help)
    .action((options: OriginsOptions) => origins(options, terminal));
}

async function origins({ outputs, check, json, port, ...options }: OriginsOptions, terminal: Terminal) {
  const stacks = readOutputs(outputs);
  const known = environments.filter(({ stackId }) => stacks[stackId]).map(({ name }) => name);
  const names = options.environment ? [options.environment] : known;
  if (names.length === 0)
    throw new CommandFailed(
      `${outputs} has no outputs of any environment. It has: ${Object.keys(stacks).join(', ') || 'none'}.`,
    );
  const listed = await Promise.all(
    names.map(async (environment) => readOrigin(await openTarget({ environment, outputs }, terminal))),
  );
  if (check !== undefined) return checkFile(check, listed, json === true, terminal);

  const { format = json ? 'json' : 'text' } = options;
  terminal.result(formatAllowList(format, listed, port));
  if (format !== 'json') terminal.note(`Use: ${allowListFormats[format].use}`);
}

function readOrigin({ environment: { name, region, deprecation }, ...target }: Target): WebhookOrigin {
  if (target.local) target.note(`warning: ${name} runs on this machine: use the list for tests only.`);
  const isUsable = target.local ? IPv4.isValidFourPartDecimal : isPublicAddress;
  const read = (output: 'WebhookOriginAddress' | 'WebhookOriginReserveAddress'): string => {
    const address = target.output(output);
    // Not even a string, if somebody edited the file.
    if (isUsable(String(address))) return address;
    throw new CommandFailed(
      `${output} of ${name} is ${JSON.stringify(address)}, which is not a public IPv4 address.`,
      'The file is damaged; recreate it with "cdk deploy --outputs-file".',
    );
  };
  const reserve = 'WebhookOriginReserveAddress';
  return {
    environment: name,
    region,
    address: read('WebhookOriginAddress'),
    ...(target.optionalOutput(reserve) !== undefined && { reserve: read(reserve) }),
    ...(deprecation && { deprecation }),
  };
}

/** Not part of a longer word or number, such as a version. */
const addressOrNetwork = /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?:\/\d{1,2})?(?![\w/]|\.\d)/g;

async function checkFile(file: string, listed: readonly WebhookOrigin[], json: boolean, terminal: Terminal) {
  const list = await readFile(file, 'utf8').catch(({ message }) => {
    throw new UsageError(`Cannot read ${file}: ${message}.`);
  });
  const found = list.match(addressOrNetwork) ?? [];
  const withPrefix = found.map((entry) => (entry.includes('/') ? entry : `${entry}/32`));
  const entries = [...new Set(withPrefix)].filter((entry) => IPv4.isValidCIDR(entry));
  const addresses = listed.flatMap(({ environment, address, reserve }) =>
    [address, ...(reserve ? [reserve] : [])].map((each) => ({
      ...{ environment, cidr: `${each}/32`, reserve: each === reserve },
      present: entries.some((entry) => IPv4.parse(each).match(IPv4.parseCIDR(entry))),
    })),
  );
  const others = entries.filter((entry) => !addresses.some(({ cidr }) => cidr === entry));
  const rows = addresses.map(({ present, cidr, environment, reserve }) => [
    present ? 'present' : 'missing',
    cidr,
    reserve ? `${environment}, reserve` : environment,
  ]);
  const heading = ['', 'ADDRESS', 'ENVIRONMENT'];
  const shown = [heading, ...rows, ...others.map((entry) => ['other', entry, ''])];
  terminal.result(json ? JSON.stringify({ addresses, others }) : table(shown, terminal.bold));
  const missing = addresses.filter(({ present }) => !present);
  for (const { cidr, environment } of missing.filter(({ reserve }) => reserve))
    terminal.note(`warning: the reserve ${cidr} of ${environment} is missing: add it for emergencies.`);
  const required = missing.flatMap(({ reserve, cidr }) => (reserve ? [] : [cidr]));
  if (required.length > 0)
    throw new CommandFailed(
      `Missing from ${file}: ${required.join(', ')}.`,
      'Without it, the firewall blocks webhooks: add it.',
    );
}
