import type { Command } from 'commander';
import { type Environment, environmentNamed } from '../../lib/environments';
import { AwsCallFailed, callAws, clientSettings } from '../shell/aws';
import { findStack, listResources, openCloudFormation, outputsOf } from '../shell/deployed-stack';
import { CommandFailed, UsageError } from '../shell/failure';
import { environmentToWorkOn, stackOption } from '../shell/options';
import { type Terminal, table } from '../shell/terminal';
import { assemblyOption, readAssembledStack } from './assembly';
import type { Check, Context, Deployed, Finding } from './checks/check';

interface PreflightOptions {
  readonly environment: string;
  readonly stack?: string;
  readonly assembly: string;
  readonly json?: boolean;
}

const help = `
Read-only. Uses the deployment's credentials, in the region of each stack of the environment. Warnings do not fail
the command: the deployment may be the fix. With --stack, failures of the other stack are warnings. A check that AWS
refuses is "not checked" and fails the command for a stack that is not deployed yet. Permissions: docs/operating.md.`;

export function register(program: Command, terminal: Terminal): void {
  program
    .command('preflight')
    .addOption(environmentToWorkOn())
    .addOption(stackOption('the stack to deploy (default: all of the environment)'))
    .addOption(assemblyOption())
    .option('--json', 'print JSON')
    .summary('check that the AWS account is ready for a deployment')
    .description('Check account, regions and what a promotion of the standby will need before a deployment.')
    .addHelpText('after', help)
    .action((options: PreflightOptions) => preflight(options, terminal));
}

async function preflight({ environment: name, assembly, json, stack }: PreflightOptions, terminal: Terminal) {
  const { STS } = await import('@aws-sdk/client-sts');
  const environment = environmentNamed(name) as Environment;
  const { stackId, standby } = environment;
  const names = [stackId, ...(standby ? [standby.stackId] : [])];
  if (stack && !names.includes(stack))
    throw new UsageError(`Stack ${stack} is not of environment ${name}. Give ${names.join(' or ')}.`);
  const stacks = names.map((each) => readAssembledStack(assembly, each));
  // The environment's region may be disabled. The call needs no permission:
  // https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
  const { Account: account = '' } = await callAws(
    new STS(clientSettings('us-east-1')),
    'getCallerIdentity',
    {},
  );
  const expected = stacks[0]?.account ?? account;
  if (account !== expected)
    throw new CommandFailed(
      `The credentials belong to account ${account}, but ${name} uses ${expected}.`,
      'Name the profile of that account in AWS_PROFILE, or correct the variable WALLET_…_ACCOUNT.',
    );
  // Loaded lazily: the SDK's clients would delay --help by a second.
  const { checks: all } = require('./checks/all') as typeof import('./checks/all');
  const checks = await runChecks(all, environment, stacks, account, stack);

  const count = (outcome: string) => checks.filter((check) => check.outcome === outcome).length;
  const blind = checks.filter(({ outcome, isFirst }) => outcome === 'not checked' && isFirst).length;
  const passed = count('failed') === 0 && blind === 0;
  const rows = checks.map(({ outcome, stack, id, found, remedy }) => [
    ...[outcome, stack, id],
    remedy ? `${found}. ${remedy}` : found,
  ]);
  const findings = checks.map(({ isFirst, ...finding }) => finding);
  terminal.result(
    json
      ? JSON.stringify({ environment: name, account, passed, checks: findings })
      : table([['RESULT', 'STACK', 'CHECK', 'FOUND'], ...rows], { bold: terminal.bold }),
  );
  const unchecked = `${count('not checked')} of ${checks.length} not checked`;
  const summary = `${name}: ${count('ok')} ok, ${count('warning')} warnings, ${count('failed')} failed, ${unchecked}.`;
  const grant = 'Grant what was refused: docs/operating.md#iam-permissions.';
  if (!passed) throw new CommandFailed(summary, blind > 0 ? grant : undefined);
  terminal.note(summary);
  if (count('not checked') > 0)
    terminal.note(
      terminal.alarm(
        `warning: ${unchecked}: the deployment may fail for a reason that was not looked for. ${grant}`,
      ),
    );
}

/** Runs the checks of all stacks at once. @param only the stack to deploy: failures of the others are warnings */
export async function runChecks(
  checks: readonly Check[],
  environment: Environment,
  stacks: readonly Context['stack'][],
  account: string,
  only?: string,
) {
  const live = new Map(stacks.map((stack) => [stack.name, readDeployed(stack)] as const));
  const deployedOf = (name: string) => live.get(name) ?? Promise.resolve(undefined);
  const found = stacks.map((stack) => {
    const { zones = [] } = (stack.name === environment.stackId ? environment : environment.standby) ?? {};
    const context = {
      environment,
      account,
      stack,
      zones,
      deployed: deployedOf(stack.name),
      deployedServing: deployedOf(environment.stackId),
    };
    const isOther = only !== undefined && only !== stack.name;
    return checks.map(async (check) => {
      const finding = await findingOf(check, context);
      return {
        id: check.id,
        stack: stack.name,
        region: stack.region,
        remedy: null,
        ...finding,
        ...(isOther && !check.isForBoth && finding.outcome === 'failed' && { outcome: 'warning' as const }),
        /** Whether it is for the first deployment of its stack, which cannot be a repair. */
        isFirst: !isOther && (await context.deployed.catch(() => undefined)) === undefined,
      };
    });
  });
  return Promise.all(found.flat());
}

async function findingOf(check: Check, context: Context): Promise<Finding> {
  try {
    const finding = await check.run(context);
    return typeof finding === 'string' ? { outcome: 'ok', found: finding } : finding;
  } catch (error) {
    if (!(error instanceof AwsCallFailed)) throw error;
    const { message, remedy } = error;
    return { outcome: 'not checked', found: message.replace(/\.$/, ''), ...(remedy && { remedy }) };
  }
}

async function readDeployed({ name, region }: Context['stack']): Promise<Deployed | undefined> {
  const cloudFormation = await openCloudFormation(region);
  const found = await findStack(cloudFormation, name);
  if (found?.StackStatus === undefined) return undefined;
  return {
    status: found.StackStatus,
    outputs: outputsOf(found),
    resources: await listResources(cloudFormation, name),
  };
}
