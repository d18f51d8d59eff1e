import './node-version';
import './uncaught';
import { spawnSync } from 'node:child_process';
import { Argument, Command } from 'commander';
import { resourceControlPolicy, serviceControlPolicy } from '../lib/guardrails/policies';
import { readGuardedAccount } from '../lib/guardrails/settings';

interface Options {
  readonly environment: string;
  readonly organization: string;
}

new Command('npm run -s guardrails --')
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
  .action((action: string, options: Options) => {
    const guarded = readGuardedAccount(options, process.env);
    if (action === 'print') {
      const policies = {
        serviceControlPolicy: serviceControlPolicy(guarded),
        resourceControlPolicy: resourceControlPolicy(guarded),
      };
      process.stdout.write(`${JSON.stringify(policies, undefined, 2)}\n`);
    } else if (action === 'synth') {
      require('../lib/guardrails/app').createGuardrailsApp(guarded).synth();
    } else {
      const app = `npm run -s guardrails -- synth --environment ${options.environment} --organization ${options.organization}`;
      const args = ['cdk', 'deploy', '--app', app, '--output', 'cdk.out/guardrails'];
      process.exitCode = spawnSync('npx', args, { stdio: 'inherit' }).status ?? 1;
    }
  })
  .parse();
