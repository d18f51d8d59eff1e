import { type Command, Option } from 'commander';
import { IPv4 } from 'ipaddr.js';
import {
  type AllowListFormat,
  allowListFormatNames,
  allowListFormats,
  formatAllowList,
  type WebhookOrigin,
} from '../../domain/allow-list';
import { type OutputName, reserveOutputs } from '../../domain/outputs';
import { environments } from '../../lib/environments';
import { type DeployedEnvironment, openEnvironment, readOutputs } from '../shell/deployed-environment';
import { CommandFailed } from '../shell/failure';
import { environment, number, withOutputs } from '../shell/options';
import type { Terminal } from '../shell/terminal';
import { isOriginAddress } from './read-origin';

interface OriginsOptions {
  readonly outputs: string;
  /** @default - all in the outputs file */
  readonly environment?: string;
  readonly format?: AllowListFormat;
  readonly port: number;
  readonly json?: boolean;
}

const help = `
Formats:
${allowListFormatNames.map((name) => `  ${name.padEnd(19)} ${allowListFormats[name].title}`).join('\n')}`;

export function register(program: Command, terminal: Terminal): void {
  withOutputs(program.command('origins'))
    .summary('print the webhook origin addresses as an allow-list')
    .description('Print the webhook origin addresses as an allow-list.')
    .addOption(environment('only this one (default: all in the outputs file)'))
    .addOption(
      new Option('--format <format>', 'output format (default: text)')
        .choices(allowListFormatNames)
        .conflicts('json'),
    )
    .option('--port <port>', "the receiver's port, for formats with ports", number(1, 65_535), 443)
    .addHelpText('after', help)
    .action((options: OriginsOptions) => origins(options, terminal));
}

async function origins({ outputs, json, port, ...options }: OriginsOptions, terminal: Terminal) {
  const stacks = readOutputs(outputs);
  const known = environments.filter(({ stackId }) => stacks[stackId]).map(({ name }) => name);
  const names = options.environment ? [options.environment] : known;
  if (names.length === 0)
    throw new CommandFailed(
      `${outputs} has no outputs of any environment. It has: ${Object.keys(stacks).join(', ') || 'none'}.`,
    );
  const listed = await Promise.all(
    names.map(async (environment) => readOrigin(await openEnvironment({ environment, outputs }, terminal))),
  );
  const { format = json ? 'json' : 'text' } = options;
  terminal.result(formatAllowList(format, listed, port));
  if (format !== 'json') terminal.note(`Use: ${allowListFormats[format].use}`);
}

function readOrigin({
  environment: { name, region, deprecation },
  ...target
}: DeployedEnvironment): WebhookOrigin {
  if (target.local) target.note(`warning: ${name} runs on this machine: use the list for tests only.`);
  const isUsable = target.local ? IPv4.isValidFourPartDecimal : isOriginAddress;
  const read = (output: OutputName): string => {
    const address = target.output(output);
    // Not even a string, if somebody edited the file.
    if (isUsable(String(address))) return address;
    throw new CommandFailed(
      `${output} of ${name} is ${JSON.stringify(address)}, which is not a public IPv4 address.`,
      'The file is damaged; recreate it with "cdk deploy --outputs-file".',
    );
  };
  const reserve = reserveOutputs.filter((each) => target.optionalOutput(each) !== undefined).map(read);
  return {
    environment: name,
    region,
    address: read('WebhookOriginAddress'),
    ...(reserve.length > 0 && { reserve }),
    ...(deprecation && { deprecation }),
  };
}
