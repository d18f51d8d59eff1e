import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { type Environment, environmentNamed } from '../../lib/environments';
import { openCloudFormation, requireDeployed } from '../shell/deployed-stack';
import { UsageError } from '../shell/failure';
import { writeJson } from '../shell/json';
import { environmentToWorkOn, path } from '../shell/options';
import type { Terminal } from '../shell/terminal';

interface OutputsOptions {
  readonly environment: string;
  readonly write?: string;
}

export function register(program: Command, terminal: Terminal): void {
  program
    .command('outputs')
    .addOption(environmentToWorkOn())
    .option('--write <file>', 'write to this file instead of stdout', path)
    .summary('print or write the outputs file of a deployed environment')
    .description('Print the outputs of the serving stack in the format of "cdk deploy --outputs-file".')
    .action((options: OutputsOptions) => outputs(options, terminal));
}

async function outputs({ environment, write: file }: OutputsOptions, terminal: Terminal): Promise<void> {
  if (file && existsSync(join(dirname(file), 'endpoints.json')))
    throw new UsageError(
      `${file} is beside endpoints.json: commands would read it as a local environment's.`,
      'Choose another folder.',
    );
  const { stackId, region } = environmentNamed(environment) as Environment;
  const { Outputs = [] } = await requireDeployed(await openCloudFormation(region), stackId);
  const values = Outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]);
  const content = { [stackId]: Object.fromEntries(values) };
  if (file === undefined) return terminal.result(JSON.stringify(content, undefined, 2));
  writeJson(file, content);
  terminal.note(`Wrote ${file}.`);
}
