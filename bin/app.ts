import { createApp } from '../lib/app';
import { environments } from '../lib/environments';
import { readAccounts } from '../lib/environments/accounts';

createApp({
  accounts: readAccounts(
    environments.map(({ name }) => name),
    process.env,
  ),
  // The variable of the CDK command line's `--no-validation`.
  validateTemplates: process.env.CDK_VALIDATION !== 'false',
}).synth();
