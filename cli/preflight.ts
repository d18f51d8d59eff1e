import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { type Environment, environmentNamed } from '../lib/environments';
import { type AssembledStack, readAssembledStack } from './assembly';
import { AwsCallFailed, ask, clientSettings } from './aws';
import { findStack, listResources, openCloudFormation } from './deployed-stack';
import { CommandFailed } from './failure';
import { environmentToWorkOn, path } from './options';
import type { Check, Context, Finding } from './preflight-checks';
import { type Terminal, table } from './terminal';

interface PreflightOptions {
  readonly environment: string;
  readonly assembly?: string;
  readonly json?: boolean;
}

type Variables = Readonly<Record<string, string | undefined>>;

const help = `
Read-only. Uses the deployment's credentials, in the region of each stack of the environment. Warnings do not fail
the command: the deployment may be the fix. Permissions: docs/operating.md.`;

/** @param variables such as `process.env`, which contains the AWS accounts */
export function register(program: Command, terminal: Terminal, variables: Variables): void {
  program
    .command('preflight')
    .addOption(environmentToWorkOn())
    .option('--assembly <folder>', 'the output of "npm run synth" (default: synthesizes the stacks)', path)
    .option('--json', 'print JSON')
    .summary('check that the AWS account is ready for a deployment')
    .description('Checks account, region, roles, quotas, zones and versions before a deployment.')
    .addHelpText('after', help)
    .action((options: PreflightOptions) => preflight(options, terminal, variables));
}

async function preflight(
  { environment: name, assembly, json }: PreflightOptions,
  terminal: Terminal,
  variables: Variables,
): Promise<void> {
  const environment = environmentNamed(name) as Environment;
  const caller = await whoAmI(name);
  if (!assembly) terminal.note('Synthesizing …');
  const stacks = assembly
    ? readStacks(environment, assembly)
    : await synthesize(environment, { ...variables, CDK_DEFAULT_ACCOUNT: caller.account });
  terminal.note(`Checking ${stacks.map(({ name, region }) => `${name} in ${region}`).join(' and ')} …`);
  const checks = await runPreflight(environment, stacks, caller);

  const count = (outcome: string) => checks.filter((check) => check.outcome === outcome).length;
  const passed = count('failed') === 0;
  if (json) {
    terminal.result(JSON.stringify({ environment: name, account: caller.account, passed, checks }));
  } else {
    const rows = checks.map(({ outcome, stack, title, found, remedy }) => [
      outcome,
      stack ?? 'account',
      title,
      remedy ? `${found}. ${remedy}` : found,
    ]);
    terminal.result(table([['RESULT', 'STACK', 'CHECK', 'FOUND'], ...rows], terminal.bold));
  }
  const summary = `${name}: ${count('ok')} ok, ${count('warning')} warnings, ${count('failed')} failed, ${count('not asked')} not asked.`;
  if (!passed) throw new CommandFailed(summary);
  terminal.note(summary);
}

async function whoAmI(environment: string): Promise<Context['caller']> {
  const { STS } = await import('@aws-sdk/client-sts');
  // The environment's region may be disabled. The call needs no permission:
  // https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
  const sts = new STS(clientSettings('us-east-1'));
  try {
    const { Account = '', Arn = '' } = await ask(sts, 'getCallerIdentity', {});
    return { account: Account, arn: Arn };
  } catch (error) {
    if (!(error instanceof AwsCallFailed) || !/Credentials|Token|Signature|Expired/.test(error.errorName))
      throw error;
    throw new CommandFailed(
      `Sign in to the account of ${environment} ("aws sso login", AWS_PROFILE): ${error.message}`,
    );
  }
}

const readStacks = ({ stackId, standby }: Environment, folder: string): readonly AssembledStack[] =>
  [stackId, standby?.stackId].flatMap((name) => (name ? [readAssembledStack(folder, name)] : []));

/** Runs the CDK app as the CDK CLI does, without template validation. */
async function synthesize(
  environment: Environment,
  variables: Variables,
): Promise<readonly AssembledStack[]> {
  const cwd = resolve(__dirname, '..');
  const folder = await mkdtemp(join(tmpdir(), 'wallet-preflight-'));
  const env = { ...variables, CDK_OUTDIR: folder, CDK_VALIDATION: 'false' };
  try {
    await promisify(execFile)(process.execPath, ['--require', 'tsx/cjs', 'bin/app.ts'], { cwd, env });
    return readStacks(environment, folder);
  } catch (error) {
    const { stderr } = error as { readonly stderr?: string };
    if (stderr === undefined) throw error;
    throw new CommandFailed(`Synthesis failed: ${stderr.trim()}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Checks the account, then all stacks at once. */
export async function runPreflight(
  environment: Environment,
  stacks: readonly AssembledStack[],
  caller: Context['caller'],
) {
  // Loaded lazily: the SDK's clients would delay --help by a second.
  const { accountChecks, stackChecks } = require('./preflight-checks') as typeof import('./preflight-checks');
  const contexts = stacks.map((stack) => createContext(environment, stack, caller));
  const account = await runChecks(accountChecks, contexts[0] as Context);
  const isBlocked = account[0]?.outcome === 'failed';
  const others = await Promise.all(contexts.map((context) => runChecks(stackChecks, context, isBlocked)));
  return [...account.map((each) => ({ ...each, stack: null, region: null })), ...others.flat()];
}

/** If the first check fails, the others are skipped. */
async function runChecks([first, ...others]: readonly Check[], context: Context, isBlocked = false) {
  const { name, region } = context.stack;
  const run = async (check: Check, skip: boolean) => ({
    id: check.id,
    title: check.title,
    stack: name,
    region,
    remedy: null,
    ...(skip ? skipped : await findingOf(check, context)),
  });
  const decisive = await run(first as Check, isBlocked);
  const skip = isBlocked || decisive.outcome === 'failed';
  return [decisive, ...(await Promise.all(others.map((check) => run(check, skip))))];
}

const skipped: Finding = {
  outcome: 'not asked',
  found: 'skipped: wrong account, or the region is not enabled',
};

async function findingOf(check: Check, context: Context): Promise<Finding> {
  try {
    const finding = await check.ask(context);
    return typeof finding === 'string' ? { outcome: 'ok', found: finding } : finding;
  } catch (error) {
    if (!(error instanceof AwsCallFailed)) throw error;
    const { message, remedy } = error;
    return { outcome: 'not asked', found: message.replace(/\.$/, ''), ...(remedy && { remedy }) };
  }
}

function createContext(environment: Environment, stack: AssembledStack, caller: Context['caller']): Context {
  const { zones = [] } = (stack.name === environment.stackId ? environment : environment.standby) ?? {};
  const readDeployed = async () => {
    const cloudFormation = await openCloudFormation(stack.region);
    const status = (await findStack(cloudFormation, stack.name))?.StackStatus;
    return status && { status, resources: await listResources(cloudFormation, stack.name) };
  };
  let deployed: ReturnType<typeof readDeployed> | undefined;
  return {
    environment,
    caller,
    stack,
    zones,
    deployed() {
      deployed ??= readDeployed();
      return deployed;
    },
  };
}
