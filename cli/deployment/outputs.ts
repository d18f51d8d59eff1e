import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { stacksOf } from '../../lib/environment/stacks';
import { environments } from '../../lib/environments';
import { UsedWrongly } from '../failure';
import { environmentToWorkOn, path } from '../options';
import { type Outputs, readOutputs } from '../target';
import type { Terminal } from '../terminal';
import { openStack, requireDeployed } from './deployed-stack';
import { writeNamed } from './written-file';

interface OutputsOptions {
  readonly environment: string;
  readonly write?: string;
}

const help = `
It needs cloudformation:DescribeStacks on the stack, and reads the outputs of the stack that serves. With --write, the other
environments in the file stay. Keep the file out of .local: an outputs file there is one of this machine.

Examples:
  wallet outputs --environment uae > outputs.json
  wallet outputs --environment eu --write outputs.json       beside those of uae`;

export function register(program: Command, terminal: Terminal): void {
  program
    .command('outputs')
    .addOption(environmentToWorkOn())
    .option(
      '--write <file>',
      'write them into this file instead, a new one or one of other environments',
      path,
    )
    .summary('print or write the outputs file of a deployed environment')
    .description('Reads the outputs of a deployed stack, as "cdk deploy --outputs-file" writes them.')
    .addHelpText('after', help)
    .action((options: OutputsOptions) => outputs(options, terminal));
}

async function outputs({ environment, write: file }: OutputsOptions, terminal: Terminal): Promise<void> {
  if (file === undefined) return terminal.result(inJson(await askStack(environment)));
  if (existsSync(join(dirname(file), 'endpoints.json')))
    throw new UsedWrongly(
      `${file} would be of this machine: endpoints.json is beside it.`,
      'Give a file in another folder.',
    );
  const others = existsSync(file) ? await readOutputs(file) : {};
  const all = { ...others, ...(await askStack(environment)) };
  writeNamed(file, () => {
    // At once: a command that reads it meanwhile finds the old one or the new one.
    writeFileSync(`${file}.new`, `${inJson(all)}\n`);
    renameSync(`${file}.new`, file);
  });
  terminal.note(`Wrote ${file}. It has: ${Object.keys(all).join(', ')}.`);
}

async function askStack(name: string): Promise<Outputs> {
  const [serving] = environments.filter((environment) => environment.name === name).flatMap(stacksOf);
  if (serving === undefined) throw new Error(`No environment ${name}`);
  const { Outputs: outputs = [] } = await requireDeployed(await openStack(serving));
  const values = outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue] as const);
  return { [serving.stackId]: Object.fromEntries(values) };
}

const inJson = (outputs: Outputs) => JSON.stringify(outputs, undefined, 2);
