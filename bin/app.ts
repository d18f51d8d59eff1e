import './node-version';
import './uncaught';
import { createApp } from '../lib/app';
import { readAccounts } from '../lib/environment/accounts';
import { environments } from '../lib/environments';
import { printable } from '../lib/operations/terminal';

createApp({
  accounts: readAccounts(
    environments.map(({ name }) => name),
    process.env,
    (warning) => process.stderr.write(`warning: ${printable(warning)}\n`),
  ),
  // The variable of the CDK command line's `--no-validation`.
  validateTemplates: process.env.CDK_VALIDATION !== 'false',
}).synth();
