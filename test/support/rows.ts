import {
  type Environment,
  type RestoreSource,
  restoreSuffix,
  type SharedKeys,
  sharedKeysOf,
} from '../../lib/environment/schema';
import { environments } from './table';

/**
 * Rows by property, for tests that name no environment, so that rows can be added and removed.
 * Each is a row of the table with the property or, if there is none, its first row with the property added.
 */
const rowWith = (has: (row: Environment) => unknown, given: (row: Environment) => Environment): Environment =>
  environments.find(has) ?? given(first);

/** The first row of the table, for features of every environment. */
export const first = environments[0] as Environment;

const accessing = (databaseAccess: Environment['databaseAccess']) =>
  rowWith(
    (row) => row.databaseAccess === databaseAccess,
    (row) => ({ ...row, databaseAccess }),
  );
export const withDataApi = accessing('data-api');
export const withDirectAccess = accessing('direct');

/** The table's first row for each database access: enough where other properties do not matter. */
export const oneOfEachAccess: readonly Environment[] = environments.filter(
  (row) => row === environments.find(({ databaseAccess }) => databaseAccess === row.databaseAccess),
);

export const withSla = environments.find(({ serviceLevelAgreement }) => serviceLevelAgreement) as Environment;

/** Regions that the table does not use. */
const [unused, alsoUnused] = ['ap-southeast-1', 'ap-southeast-2'] as const;

export const withStandby = rowWith(
  ({ standby }) => standby,
  () => ({
    ...withSla,
    residencyRegions: [withSla.region, alsoUnused],
    multiRegionKeys: true,
    standby: {
      stackId: 'WalletStandby',
      region: alsoUnused,
      zones: withSla.zones.map((zone) => `${alsoUnused}${zone.at(-1)}`),
      vpcCidr: '10.250.0.0/16',
      globalClusterIdentifier: 'wallet-with-standby',
    },
  }),
) as Environment & Required<Pick<Environment, 'standby'>>;

/** Has no service level agreement, and nothing that depends on one. */
export const withoutSla = rowWith(
  ({ serviceLevelAgreement }) => !serviceLevelAgreement,
  ({ alarmEmail: _, standby: __, objective: ___, multiRegionKeys: ____, ...row }) => ({
    ...row,
    serviceLevelAgreement: false,
  }),
);

const certificateIn = (region: string) => `arn:aws:acm:${region}:123456789012:certificate/1a2b-3c`;

const domainsOf = ({ name, region }: Environment) => ({
  api: `api.${name}.example.com`,
  dashboard: `dashboard.${name}.example.com`,
  certificateArn: certificateIn(region),
});

const adopted = (digit: number) => ({
  allocationId: `eipalloc-0123456789abcdef${digit}`,
  address: `203.0.113.${digit}`,
});

/** A row's keys in a region, as recorded after a deployment. */
export function keysIn(region: string, row: Environment, account = '111122223333'): SharedKeys {
  const arns = sharedKeysOf(row).map(({ purpose, label }, index) => {
    const arn = `arn:aws:kms:${region}:${account}:key/mrk-${String(index).padStart(32, '0')}`;
    return { purpose, label, arn };
  });
  const labelled = (of: string) =>
    Object.fromEntries(arns.filter(({ purpose }) => purpose === of).map(({ label, arn }) => [label, arn]));
  const [{ arn: webhookSecrets = '' } = {}] = arns;
  return { webhookSecrets, accessToken: labelled('accessToken'), userAction: labelled('userAction') };
}

/** A row with every option that it may have. */
export const withEveryOption = (row: Environment) =>
  ({
    ...row,
    ...(row.serviceLevelAgreement && { alarmEmail: 'on-call@example.com' }),
    domainNames: domainsOf(row),
    webhookOrigin: { reserve: true },
    throttle: { ...row.throttle, requestsPerAddress: 30_000 },
    ...(row.standby && {
      standby: {
        ...row.standby,
        ...{ instances: 2, keys: keysIn(row.region, row), adoptedElasticIp: adopted(9) },
        certificateArn: certificateIn(row.standby.region),
      },
    }),
  }) satisfies Environment;

/** As in docs/deploying.md, "Try it on AWS". */
export const disposable: Environment = { ...withoutSla, disposable: true };

/** A row with a second, published address for an emergency. */
export const withReserve = rowWith(({ webhookOrigin }) => webhookOrigin?.reserve, withEveryOption);

/** An additional valid row. */
export const newcomer: Environment = (() => {
  const { standby, domainNames, adoptedElasticIp, webhookOrigin, multiRegionKeys, ...row } = withSla;
  return {
    ...row,
    name: 'newcomer',
    stackId: 'WalletNewcomer',
    title: 'Singapore, production',
    region: unused,
    residencyRegions: [unused],
    zones: ['a', 'b', 'c'].map((letter) => `${unused}${letter}`),
    vpcCidr: '10.240.0.0/16',
    databaseAccess: 'direct',
    tokenIssuer: 'https://newcomer.example',
  };
})();

/** An additional row with the options that exclude those of `withEveryOption`. */
export const withOtherOptions = {
  ...newcomer,
  deprecation: { since: '2026-11-20', sunset: '2027-06-30' },
  domainNames: domainsOf(newcomer),
  adoptedElasticIp: adopted(1),
  webhookOrigin: { reserve: true, adoptedReserve: adopted(2) },
  airGappedBackups: { retentionDays: 60 },
  signingKeyLabels: { accessToken: ['2027-02', '2026-11'], userAction: ['2026-11'] },
} satisfies Environment;

/** A row as in docs/runbook/emergencies.md, "Restore to a point in time". */
export function restored({ standby, ...row }: Environment, restoreFrom: RestoreSource): Environment {
  return {
    ...row,
    database: { ...row.database, restoreFrom },
    ...(standby && {
      standby: {
        ...standby,
        globalClusterIdentifier: `${standby.globalClusterIdentifier}${restoreSuffix({ restoreFrom })}`,
      },
    }),
  };
}
