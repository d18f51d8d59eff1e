import type { Command } from 'commander';
import { type Environment, environmentNamed } from '../../lib/environments';
import { AwsCallFailed, ask, clientSettings } from '../shell/aws';
import { findStack, listResources, openCloudFormation } from '../shell/deployed-stack';
import { CommandFailed } from '../shell/failure';
import { environmentToWorkOn } from '../shell/options';
import { type Terminal, table } from '../shell/terminal';
import { type AssembledStack, assemblyOption, readAssembledStack } from './assembly';
import type { Check, Context, Finding } from './preflight-checks';

interface PreflightOptions {
  readonly environment: string;
  readonly assembly: string;
  readonly json?: boolean;
}

const help = `
Read-only. Uses the deployment's credentials, in the region of each stack of the environment. Warnings do not fail
the command: the deployment may be the fix. Permissions: docs/operating.md.`;

export function register(program: Command, terminal: Terminal): void {
  program
    .command('preflight')
    .addOption(environmentToWorkOn())
    .addOption(assemblyOption())
    .option('--json', 'print JSON')
    .summary('check that the AWS account is ready for a deployment')
    .description('Check account, region, roles, quotas, zones and versions before a deployment.')
    .addHelpText('after', help)
    .action((options: PreflightOptions) => preflight(options, terminal));
}

async function preflight({ environment: name, assembly, json }: PreflightOptions, terminal: Terminal) {
  const { STS } = await import('@aws-sdk/client-sts');
  const environment = environmentNamed(name) as Environment;
  const { stackId, standby } = environment;
  const stacks = [stackId, ...(standby ? [standby.stackId] : [])].map((stack) =>
    readAssembledStack(assembly, stack),
  );
  // The environment's region may be disabled. The call needs no permission:
  // https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
  const { Account: account = '' } = await ask(new STS(clientSettings('us-east-1')), 'getCallerIdentity', {});
  const expected = stacks[0]?.account ?? account;
  if (account !== expected)
    throw new CommandFailed(
      `The credentials belong to account ${account}, but ${name} uses ${expected}.`,
      'Name the profile of that account in AWS_PROFILE, or correct the variable WALLET_…_ACCOUNT.',
    );
  const checks = await runChecks(environment, stacks, account);

  const count = (outcome: string) => checks.filter((check) => check.outcome === outcome).length;
  const passed = count('failed') === 0;
  const rows = checks.map(({ outcome, stack, id, found, remedy }) => [
    ...[outcome, stack, id],
    remedy ? `${found}. ${remedy}` : found,
  ]);
  terminal.result(
    json
      ? JSON.stringify({ environment: name, account, passed, checks })
      : table([['RESULT', 'STACK', 'CHECK', 'FOUND'], ...rows], terminal.bold),
  );
  const summary = `${name}: ${count('ok')} ok, ${count('warning')} warnings, ${count('failed')} failed, ${count('not checked')} not checked.`;
  if (!passed) throw new CommandFailed(summary);
  terminal.note(summary);
}

/** Runs all checks of all stacks at once. */
export async function runChecks(
  environment: Environment,
  stacks: readonly AssembledStack[],
  account: string,
) {
  // Loaded lazily: the SDK's clients would delay --help by a second.
  const { checks } = require('./preflight-checks') as typeof import('./preflight-checks');
  const found = stacks.map((stack) => {
    const { zones = [] } = (stack.name === environment.stackId ? environment : environment.standby) ?? {};
    const context = { environment, account, stack, zones, deployed: readDeployed(stack) };
    return checks.map(async (check) => ({
      ...{ id: check.id, stack: stack.name, region: stack.region, remedy: null },
      ...(await findingOf(check, context)),
    }));
  });
  return Promise.all(found.flat());
}

async function findingOf(check: Check, context: Context): Promise<Finding> {
  try {
    const finding = await check.ask(context);
    return typeof finding === 'string' ? { outcome: 'ok', found: finding } : finding;
  } catch (error) {
    if (!(error instanceof AwsCallFailed)) throw error;
    const { message, remedy } = error;
    return { outcome: 'not checked', found: message.replace(/\.$/, ''), ...(remedy && { remedy }) };
  }
}

async function readDeployed({ name, region }: AssembledStack): Promise<Awaited<Context['deployed']>> {
  const cloudFormation = await openCloudFormation(region);
  const status = (await findStack(cloudFormation, name))?.StackStatus;
  return status && { status, resources: await listResources(cloudFormation, name) };
}
