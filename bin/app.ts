import './node-version';
import './uncaught';
import { printable } from '../domain/printable';
import { createApp } from '../lib/app';
import { environments } from '../lib/environments';
import { readAccounts } from '../lib/target-accounts';

createApp({
  accounts: readAccounts(
    environments.map(({ name }) => name),
    process.env,
    (warning) => process.stderr.write(`warning: ${printable(warning)}\n`),
  ),
  // The variable of the CDK command line's `--no-validation`.
  validateTemplates: process.env.CDK_VALIDATION !== 'false',
}).synth();
