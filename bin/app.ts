import './uncaught';
import { join } from 'node:path';
import type { RulesThread } from '../lib/checks/cloudformation-rules';
import type * as table from '../lib/environments';
import type * as app from '../lib/environments-app';
import { startBuilds } from '../lib/functions/builds';
import { readAccounts } from '../lib/target-accounts';
import { startThread } from '../lib/thread';
import { warn } from './warn';

// Of esbuild, which ends with this process: collecting its garbage would be a third of its time, and save 80 MiB.
process.env.GOGC ??= 'off';
startBuilds();
// The variable of the CDK command line's `--no-validation`.
const validateTemplates = process.env.CDK_VALIDATION !== 'false';
// Prepares the rules' engine, which takes as long as creating the stacks.
const rulesThread: RulesThread | undefined = validateTemplates
  ? startThread(join(__dirname, '../lib/checks/rules-worker.ts'))
  : undefined;
// Loaded meanwhile: the CDK.
const { environments } = require('../lib/environments') as typeof table;
const { createApp } = require('../lib/environments-app') as typeof app;

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
