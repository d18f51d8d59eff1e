import './uncaught';
import { environments } from '../lib/environments';
import { createApp } from '../lib/environments-app';
import { readAccounts } from '../lib/target-accounts';
import { warn } from './warn';

const { stacks, directory } = createApp({
  accounts: readAccounts(
    environments.map(({ name }) => name),
    process.env,
    warn,
  ),
  // The variable of the CDK command line's `--no-validation`.
  validateTemplates: process.env.CDK_VALIDATION !== 'false',
}).synth();
process.stderr.write(`Wrote ${stacks.map(({ stackName }) => stackName).join(', ')} to ${directory}\n`);
