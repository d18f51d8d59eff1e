import './node-version';
import './uncaught';
import { printable } from '../cli/terminal';
import { createApp } from '../lib/app';
import { readAccounts } from '../lib/environment/accounts';
import { environments } from '../lib/environments';

createApp({
  accounts: readAccounts(
    environments.map(({ name }) => name),
    process.env,
    (warning) => process.stderr.write(`warning: ${printable(warning)}\n`),
  ),
  // The variable of the CDK command line's `--no-validation`.
  validateTemplates: process.env.CDK_VALIDATION !== 'false',
}).synth();
