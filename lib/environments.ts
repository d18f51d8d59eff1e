import { InvalidInput } from './environment/messages';
import { validateEnvironments } from './environment/rules';
import { type Environment, stacksOf, type TableStack, without } from './environment/schema';

export {
  accessTokenLifetime,
  checkThrottle,
  type Environment,
  recordedArn,
  restoreSuffix,
  sharedKeysOf,
  stacksOf,
  type TableStack,
} from './environment/schema';

const support = {
  contact: 'webhooks@wallet-infrastructure.example',
  guide: 'https://docs.wallet-infrastructure.example/receivers',
};

/** One row, one serving stack. Validated when this module is loaded. The first row is the command line's default. */
export const environments: readonly Environment[] = validateEnvironments([
  {
    name: 'eu',
    stackId: 'WalletEu',
    title: 'Europe, production',
    region: 'eu-central-1',
    residencyRegions: ['eu-central-1', 'eu-west-1'],
    zones: ['eu-central-1a', 'eu-central-1b', 'eu-central-1c'],
    vpcCidr: '10.10.0.0/16',
    chains: ['mainnet', 'testnet'],
    support,
    serviceLevelAgreement: true,
    objective: { availability: 0.999 },
    testFundsOnly: false,
    databaseAccess: 'data-api',
    database: {
      capacity: { minimum: 2, maximum: 32 },
      readers: 1,
      backupRetentionDays: 35,
      deletionProtection: true,
    },
    logRetentionDays: 365,
    throttle: { requestsPerSecond: 200, burst: 400 },
    tokenIssuer: 'https://eu.wallet-infrastructure.example',
    signingKeyLabels: { accessToken: ['2026-11'], userAction: ['2026-11'] },
    multiRegionKeys: true,
    standby: {
      stackId: 'WalletEuStandby',
      region: 'eu-west-1',
      zones: ['eu-west-1a', 'eu-west-1b', 'eu-west-1c'],
      vpcCidr: '10.11.0.0/16',
      globalClusterIdentifier: 'wallet-eu',
    },
  },
  {
    name: 'uae',
    stackId: 'WalletUae',
    title: 'UAE, production',
    region: 'me-central-1',
    residencyRegions: ['me-central-1'],
    zones: ['me-central-1a', 'me-central-1b', 'me-central-1c'],
    vpcCidr: '10.20.0.0/16',
    chains: ['mainnet', 'testnet'],
    support,
    serviceLevelAgreement: true,
    objective: { availability: 0.999 },
    testFundsOnly: false,
    databaseAccess: 'direct',
    database: {
      capacity: { minimum: 2, maximum: 32 },
      readers: 1,
      backupRetentionDays: 35,
      deletionProtection: true,
    },
    logRetentionDays: 365,
    throttle: { requestsPerSecond: 200, burst: 400 },
    tokenIssuer: 'https://uae.wallet-infrastructure.example',
    signingKeyLabels: { accessToken: ['2026-11'], userAction: ['2026-11'] },
  },
  {
    name: 'staging',
    stackId: 'WalletStaging',
    title: 'Staging, test funds only',
    region: 'eu-west-3',
    residencyRegions: ['eu-west-3'],
    zones: ['eu-west-3a', 'eu-west-3b', 'eu-west-3c'],
    vpcCidr: '10.30.0.0/16',
    chains: ['mainnet', 'testnet'],
    support,
    serviceLevelAgreement: false,
    testFundsOnly: true,
    deprecation: { since: '2026-11-20' },
    databaseAccess: 'data-api',
    database: {
      capacity: { minimum: 0, maximum: 4 },
      pauseAfterMinutes: 15,
      readers: 0,
      backupRetentionDays: 7,
      deletionProtection: false,
    },
    logRetentionDays: 30,
    throttle: { requestsPerSecond: 20, burst: 40 },
    tokenIssuer: 'https://staging.wallet-infrastructure.example',
    signingKeyLabels: { accessToken: ['2026-11'], userAction: ['2026-11'] },
  },
]);

/** A copy of the first row at minimum capacity, for trials: `cdk deploy -c wallet:developer=NAME`. @throws InvalidInput */
export function developerEnvironment(name: string): Environment {
  if (!/^[a-z][a-z0-9]{0,15}$/.test(name)) {
    throw new InvalidInput(
      `developer is ${JSON.stringify(name)}. Use 1 to 16 lowercase letters and digits, a letter first.`,
    );
  }
  const [row] = environments as [Environment];
  const { standby, domainNames, objective, alarmEmail, airGappedBackups, ...regional } = row;
  const rest = without(regional, 'adoptedElasticIp', 'webhookOrigin');
  const [copy] = validateEnvironments([
    {
      ...without(rest, 'multiRegionKeys', 'keyReplicas', 'adoptedKeys', 'formerAddress'),
      name: `dev-${name}`,
      stackId: `WalletDev${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      title: `Trial of ${name}`,
      residencyRegions: [row.region],
      // A subnet group needs two zones. The instance and the gateway are in the first.
      zones: row.zones.slice(0, 2),
      serviceLevelAgreement: false,
      testFundsOnly: true,
      disposable: true,
      database: {
        capacity: { minimum: 0, maximum: 1 },
        pauseAfterMinutes: 5,
        readers: 0,
        backupRetentionDays: 1,
        deletionProtection: false,
      },
      logRetentionDays: 1,
      throttle: { requestsPerSecond: 10, burst: 20 },
      tokenIssuer: `https://dev-${name}.wallet-infrastructure.example`,
    },
  ]);
  return copy as Environment;
}

/** A row of the table, or a developer's copy. */
export const environmentNamed = (name: string): Environment | undefined =>
  environments.find((row) => row.name === name) ??
  (/^dev-[a-z][a-z0-9]{0,15}$/.test(name) ? developerEnvironment(name.slice('dev-'.length)) : undefined);

/** A stack of the table, or of a developer's copy. */
export function stackNamed(stackId: string): TableStack | undefined {
  const [, letter = '', letters = ''] = /^WalletDev([A-Z])([a-z0-9]*)$/.exec(stackId) ?? [];
  const copy = environmentNamed(`dev-${letter.toLowerCase()}${letters}`);
  return [...environments, ...(copy ? [copy] : [])]
    .flatMap(stacksOf)
    .find((stack) => stack.stackId === stackId);
}
