import type { Command } from 'commander';
import { stacksOf } from '../../environment/stacks';
import { environments } from '../../environments';
import { environmentToWorkOn } from '../options';
import type { Outputs } from '../target';
import type { Terminal } from '../terminal';
import { openStack, requireDeployed } from './deployed-stack';

const help = `
It needs cloudformation:DescribeStacks on the stack, and reads the outputs of the stack that serves. Keep the file out of
.local: an outputs file there is one of this machine.

Examples:
  wallet outputs --environment uae > outputs.json`;

export function register(program: Command, terminal: Terminal): void {
  program
    .command('outputs')
    .addOption(environmentToWorkOn())
    .summary('print the outputs file of a deployed environment')
    .description('Reads the outputs of a deployed stack, as "cdk deploy --outputs-file" writes them.')
    .addHelpText('after', help)
    .action(({ environment }: { readonly environment: string }) => printOutputs(environment, terminal));
}

async function printOutputs(name: string, terminal: Terminal): Promise<void> {
  const [serving] = environments.filter((environment) => environment.name === name).flatMap(stacksOf);
  if (serving === undefined) throw new Error(`No environment ${name}`);
  const { Outputs: outputs = [] } = await requireDeployed(await openStack(serving));
  const values = outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue] as const);
  const file: Outputs = { [serving.stackId]: Object.fromEntries(values) };
  terminal.result(JSON.stringify(file, undefined, 2));
}
