import './uncaught';
import { spawnSync } from 'node:child_process';
import { Argument, Command } from 'commander';
import { resourceControlPolicy, serviceControlPolicy } from '../lib/guardrails/policies';
import { readGuardedAccount } from '../lib/guardrails/settings';

interface Options {
  readonly environment: string;
  readonly organization: string;
  readonly breakGlass?: string;
  readonly actionsOnly: boolean;
}

const program = new Command('npm run -s guardrails --')
  .description("Policies of the organization that keep an environment's data in its regions.")
  .addArgument(
    new Argument(
      '[action]',
      'print them, deploy them from the management account, or synthesize (for the CDK)',
    )
      .choices(['print', 'deploy', 'synth'])
      .default('print'),
  )
  .requiredOption('--environment <name>', 'the environment; WALLET_NAME_ACCOUNT has the account of each')
  .requiredOption('--organization <id>', 'the organization, o-…')
  .option('--break-glass <arn>', 'a role that may delete keys and release addresses (default: none)')
  .option('--actions-only', 'without the resource control policy: docs/guardrails.md says until when', false)
  .action((action: string, options: Options) => {
    const guarded = readAccount(options);
    if (action === 'print') {
      const policies = {
        serviceControlPolicy: serviceControlPolicy(guarded),
        resourceControlPolicy: resourceControlPolicy(guarded),
      };
      process.stdout.write(`${JSON.stringify(policies, undefined, 2)}\n`);
    } else if (action === 'synth') {
      require('../lib/guardrails/guardrails-app')
        .createGuardrailsApp({ ...guarded, actionsOnly: options.actionsOnly })
        .synth();
    } else {
      // All are checked: no shell reads anything else in them.
      const { environment, organization, breakGlass, actionsOnly } = options;
      const more = [breakGlass && ` --break-glass ${breakGlass}`, actionsOnly && ' --actions-only'];
      const app = `npm run -s guardrails -- synth --environment ${environment} --organization ${organization}${more.filter(Boolean).join('')}`;
      const args = ['cdk', 'deploy', '--app', app, '--output', 'cdk.out/guardrails'];
      process.exitCode = spawnSync('npx', args, { stdio: 'inherit' }).status ?? 1;
    }
  })
  // Used wrongly.
  .exitOverride(({ exitCode }) => process.exit(exitCode && 2));
program.parse();

function readAccount(options: Options) {
  try {
    return readGuardedAccount(options, process.env);
  } catch (error) {
    return program.error(`error: ${(error as Error).message}`);
  }
}
