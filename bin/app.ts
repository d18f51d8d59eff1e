import { createApp } from '../lib/app';
import { environments } from '../lib/environments';

// WALLET_EU_ACCOUNT, WALLET_UAE_ACCOUNT, …: the deployer's AWS account for each environment. Without them, the account
// of the credentials in use.
const accounts = Object.fromEntries(
  environments.map(({ name }) => [
    name,
    process.env[`WALLET_${name.toUpperCase().replaceAll('-', '_')}_ACCOUNT`] ??
      process.env.CDK_DEFAULT_ACCOUNT,
  ]),
);

// The variable of the CDK command line's `--no-validation`.
createApp({ accounts, validateTemplates: process.env.CDK_VALIDATION !== 'false' }).synth();
