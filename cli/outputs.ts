import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { type Environment, environmentNamed } from '../lib/environments';
import { openCloudFormation, requireDeployed } from './deployed-stack';
import { UsageError } from './failure';
import { writeJson } from './json';
import { environmentToWorkOn, path } from './options';
import type { Terminal } from './terminal';

interface OutputsOptions {
  readonly environment: string;
  readonly write?: string;
}

export function register(program: Command, terminal: Terminal): void {
  program
    .command('outputs')
    .addOption(environmentToWorkOn())
    .option('--write <file>', 'write them into this file instead', path)
    .summary('print or write the outputs file of a deployed environment')
    .description('Reads the outputs of the serving stack, as "cdk deploy --outputs-file" writes them.')
    .action((options: OutputsOptions) => outputs(options, terminal));
}

async function outputs({ environment, write: file }: OutputsOptions, terminal: Terminal): Promise<void> {
  if (file && existsSync(join(dirname(file), 'endpoints.json')))
    throw new UsageError(
      `${file} would be taken for a local environment's: endpoints.json is beside it.`,
      'Give a file in another folder.',
    );
  const { stackId, region } = environmentNamed(environment) as Environment;
  const { Outputs = [] } = await requireDeployed(await openCloudFormation(region), stackId);
  const values = Outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]);
  const content = { [stackId]: Object.fromEntries(values) };
  if (file === undefined) return terminal.result(JSON.stringify(content, undefined, 2));
  writeJson(file, content);
  terminal.note(`Wrote ${file}.`);
}
