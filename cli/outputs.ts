import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { allStacks, openStack, requireDeployed } from './deployed-stack';
import { UsedWrongly } from './failure';
import { environmentToWorkOn, path } from './options';
import type { Terminal } from './terminal';
import { writeNamed } from './written-file';

interface OutputsOptions {
  readonly environment: string;
  readonly write?: string;
}

const help = `
It reads the outputs of the stack that serves.

Examples:
  wallet outputs --environment uae
  wallet outputs --environment uae --write outputs.json`;

export function register(program: Command, terminal: Terminal): void {
  program
    .command('outputs')
    .addOption(environmentToWorkOn())
    .option('--write <file>', 'write them into this file instead', path)
    .summary('print or write the outputs file of a deployed environment')
    .description('Reads the outputs of a deployed stack, as "cdk deploy --outputs-file" writes them.')
    .addHelpText('after', help)
    .action((options: OutputsOptions) => outputs(options, terminal));
}

async function outputs(
  { environment: name, write: file }: OutputsOptions,
  terminal: Terminal,
): Promise<void> {
  if (file && existsSync(join(dirname(file), 'endpoints.json')))
    throw new UsedWrongly(
      `${file} would be of this machine: endpoints.json is beside it.`,
      'Give a file in another folder.',
    );
  const [serving] = allStacks().filter(({ environment }) => environment.name === name);
  if (!serving) throw new Error(`No environment ${name}`);
  const { Outputs = [] } = await requireDeployed(await openStack(serving));
  const values = Outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]);
  const content = { [serving.stackId]: Object.fromEntries(values) };
  if (file === undefined) return terminal.result(JSON.stringify(content, undefined, 2));
  writeNamed(file, content);
  terminal.note(`Wrote ${file}.`);
}
