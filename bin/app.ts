import './uncaught';
import { startRulesThread } from '../lib/checks/rules-thread';
import type * as table from '../lib/environments';
import type * as app from '../lib/environments-app';
import { buildAll } from '../lib/functions/builds';
import { readAccounts } from '../lib/target-accounts';
import { warn } from './warn';

// Of esbuild, which ends with this process: collecting its garbage would be a third of its time, and save 80 MiB.
process.env.GOGC ??= 'off';
// Another process builds them while this one loads the CDK, which takes as long.
const bundles = buildAll();
// The variable of the CDK command line's `--no-validation`.
const validateTemplates = process.env.CDK_VALIDATION !== 'false';
const rulesThread = validateTemplates ? startRulesThread() : undefined;
const { environments } = require('../lib/environments') as typeof table;
const { createApp } = require('../lib/environments-app') as typeof app;

void bundles.then(() => {
  const { stacks, directory } = createApp({
    accounts: readAccounts(
      environments.map(({ name }) => name),
      process.env,
      warn,
    ),
    validateTemplates,
    rulesThread,
  }).synth();
  process.stderr.write(`Wrote ${stacks.map(({ stackName }) => stackName).join(', ')} to ${directory}\n`);
});
