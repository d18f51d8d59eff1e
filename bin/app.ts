import './uncaught';
import type * as table from '../lib/environments';
import type * as app from '../lib/environments-app';
import { buildBundles } from '../lib/functions/builds';
import { readAccounts } from '../lib/target-accounts';
import { warn } from './warn';

// Another process builds them while this one loads the CDK, which takes as long.
const bundles = buildBundles();
const { environments } = require('../lib/environments') as typeof table;
const { createApp } = require('../lib/environments-app') as typeof app;

void bundles.then(() => {
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
});
