import type { Command } from 'commander';
import { noticesCell, originCell } from './environment-cells';
import { type CommonOptions, withOutputs } from './options';
import { readEnvironments } from './target';
import { type Terminal, table } from './terminal';

const help = `
Examples:
  wallet environments                                    those of this machine
  wallet environments --outputs outputs.json --json      those that were deployed`;

export function register(program: Command, terminal: Terminal): void {
  withOutputs(program.command('environments'))
    .summary('list the environments that the outputs file has')
    .description('Lists the environments that the outputs file has, with their addresses.')
    .addHelpText('after', help)
    .action((options: CommonOptions) => listEnvironments(options, terminal));
}

async function listEnvironments(options: CommonOptions, terminal: Terminal): Promise<void> {
  const listed = (await readEnvironments(options.outputs)).map(({ environment, stack }) => ({
    environment: environment.name,
    region: environment.region,
    baseUrl: stack.ApiBaseUrl ?? '',
    webhookOrigin: stack.WebhookOriginAddress ?? '',
    ...(stack.WebhookOriginReserveAddress && { webhookOriginReserve: stack.WebhookOriginReserveAddress }),
    serviceLevelAgreement: environment.serviceLevelAgreement,
    deprecated: environment.deprecation !== undefined,
    testFundsOnly: environment.testFundsOnly,
  }));
  if (options.json) return terminal.result(JSON.stringify(listed));
  const rows = listed.map((row) => [
    row.environment,
    row.region,
    row.baseUrl,
    originCell(row.webhookOrigin, row.webhookOriginReserve),
    row.serviceLevelAgreement ? 'yes' : 'no',
    noticesCell(row),
  ]);
  terminal.result(
    table([['NAME', 'REGION', 'BASE ADDRESS', 'WEBHOOK ORIGIN', 'SLA', ''], ...rows], terminal.bold),
  );
}
