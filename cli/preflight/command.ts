import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { environmentNamed } from '../../lib/environments';
import { type AssembledStack, readAssembledStack } from '../assembly';
import { CommandFailed, UsedWrongly } from '../failure';
import { environmentToWorkOn, path } from '../options';
import { type Terminal, table } from '../terminal';
import type { Context } from './check';

interface PreflightOptions {
  readonly environment: string;
  readonly assembly?: string;
  readonly json?: boolean;
}

const help = `
Every call only reads, with the credentials that deploy, for each stack of the environment in its region. A warning
fails nothing: the deployment may be the repair. Permissions: docs/operating.md.

Exit codes: 0 nothing failed, 1 a check failed, or nobody is signed in, 2 used wrongly.

Examples:
  wallet preflight --environment uae
  AWS_PROFILE=wallet-eu wallet preflight --environment eu --assembly cdk.out --json`;

/** @param variables such as `process.env`: they give the AWS accounts */
export function register(
  program: Command,
  terminal: Terminal,
  variables: Readonly<Record<string, string | undefined>>,
): void {
  program
    .command('preflight')
    .addOption(environmentToWorkOn())
    .option('--assembly <folder>', 'what "npm run synth" wrote (default: synthesizes the stacks)', path)
    .option('--json', 'print JSON')
    .summary('ask the AWS account whether a deployment can work')
    .description(
      'Asks the AWS account, before a deployment, what CloudFormation would fail on half-way: account, region, roles, quotas, zones, versions.',
    )
    .addHelpText('after', help)
    .action((options: PreflightOptions) => preflight(options, terminal, variables));
}

async function preflight(
  { environment: name, assembly, json }: PreflightOptions,
  terminal: Terminal,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const environment = environmentNamed(name);
  if (!environment) throw new UsedWrongly(`There is no environment "${name}".`);
  // Not above: the SDK's clients take a second to load, which no other command should wait for.
  const { askAll, whoAmI } = require('./run') as typeof import('./run');
  const caller = await whoAmI(environment);
  if (!assembly) terminal.note('Synthesizing …');
  const stacks = assembly
    ? stacksOf(environment, assembly)
    : await synthesize(environment, { ...variables, CDK_DEFAULT_ACCOUNT: caller.account });
  terminal.note(
    `Asking AWS about ${stacks.map((stack) => `${stack.name} in ${stack.region}`).join(' and ')} …`,
  );
  const findings = await askAll(environment, stacks, caller);

  const count = (outcome: string) => findings.filter(({ answer }) => answer.outcome === outcome).length;
  const passed = count('failed') === 0;
  if (json) {
    const checks = findings.map(({ check: { id, title }, stack, answer }) => ({
      id,
      title,
      stack: stack?.name ?? null,
      region: stack?.region ?? null,
      remedy: null,
      ...answer,
    }));
    terminal.result(JSON.stringify({ environment: name, account: caller.account, passed, checks }));
  } else {
    const rows = findings.map(({ check, stack, answer }) => [
      answer.outcome,
      stack?.name ?? 'account',
      check.title,
      'remedy' in answer ? `${answer.found}. ${answer.remedy}` : answer.found,
    ]);
    terminal.result(table([['RESULT', 'STACK', 'CHECK', 'FOUND'], ...rows], terminal.bold));
  }
  const summary = `${name}: ${count('ok')} ok, ${count('warning')} warnings, ${count('failed')} failed, ${count('not asked')} not asked.`;
  if (!passed) throw new CommandFailed(summary);
  terminal.note(summary);
}

const stacksOf = ({ stackId, standby }: Context['environment'], folder: string): readonly AssembledStack[] =>
  [stackId, standby?.stackId].flatMap((name) => (name ? [readAssembledStack(folder, name)] : []));

/** Runs the CDK's app as the CDK's command line does, without the checks of the templates. */
async function synthesize(
  environment: Context['environment'],
  variables: Readonly<Record<string, string | undefined>>,
): Promise<readonly AssembledStack[]> {
  const cwd = resolve(__dirname, '../..');
  const folder = await mkdtemp(join(tmpdir(), 'wallet-preflight-'));
  const env = { ...variables, CDK_OUTDIR: folder, CDK_VALIDATION: 'false' };
  try {
    await promisify(execFile)(process.execPath, ['--require', 'tsx/cjs', 'bin/app.ts'], { cwd, env });
    return stacksOf(environment, folder);
  } catch (error) {
    const { stderr } = error as { readonly stderr?: string };
    if (stderr === undefined) throw error;
    // What a deployer gave wrong, such as a variable, is said in one line.
    const [, said] = /^error: (.*)$/m.exec(stderr) ?? [];
    throw said
      ? new UsedWrongly(said)
      : new CommandFailed(`The stacks cannot be synthesized: ${stderr.trim()}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
