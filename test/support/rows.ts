import { type Environment, type RestoreSource, restoreSuffix, type Standby } from '../../lib/environment';
import { environments } from '../../lib/environments';

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
  ({ databaseAccess }, index) =>
    environments.findIndex((row) => row.databaseAccess === databaseAccess) === index,
);

export const withSla = rowWith(
  ({ serviceLevelAgreement }) => serviceLevelAgreement,
  () => {
    throw new Error('No environment in lib/environments.ts has a service level agreement.');
  },
);

export const withStandby = rowWith(
  ({ standby }) => standby,
  () => withMadeUpStandby(withSla),
) as Environment & Required<Pick<Environment, 'standby'>>;

/** Without a service level agreement, and so without what depends on it. */
export const withoutSla = rowWith(
  ({ serviceLevelAgreement }) => !serviceLevelAgreement,
  ({ alarmEmail: _, standby: __, ...row }) => ({ ...row, serviceLevelAgreement: false }),
);

function withMadeUpStandby(row: Environment): Environment {
  const region = row.region === 'eu-west-1' ? 'eu-west-2' : 'eu-west-1';
  return {
    ...row,
    residencyRegions: [...new Set([...row.residencyRegions, region])],
    standby: {
      stackId: `${row.stackId}Standby`,
      region,
      zones: ['a', 'b', 'c'].slice(0, row.zones.length).map((letter) => `${region}${letter}`),
      vpcCidr: '10.250.0.0/16',
      globalClusterIdentifier: `wallet-${row.name}`,
    },
  };
}

/** The first row with one address only. */
export const withoutReserve = (({ webhookOrigin: _, ...row }: Environment): Environment => row)(first);

/** A row with a second, published address for an emergency. */
export const withReserve = rowWith(
  ({ webhookOrigin }) => webhookOrigin?.reserve,
  (row) => ({ ...row, webhookOrigin: { reserve: true } }),
);

/** An additional valid row, in a region that the table does not use. */
export const newcomer: Environment = (() => {
  const {
    standby: _,
    domainNames: __,
    adoptedElasticIp: ___,
    publicIpv4Pool: ____,
    webhookOrigin: _____,
    ...row
  } = withSla;
  const region = 'ap-southeast-1';
  return {
    ...row,
    name: 'newcomer',
    stackId: 'WalletNewcomer',
    purpose: 'production, Singapore',
    region,
    residencyRegions: [region],
    zones: ['a', 'b', 'c'].map((letter) => `${region}${letter}`),
    vpcCidr: '10.240.0.0/16',
    databaseAccess: 'direct',
    tokenIssuer: 'https://newcomer.example',
  };
})();

/** A row as in docs/runbook.md, "Restore to a point in time". */
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

/** A row as in docs/runbook.md, "Promoting the standby". */
export function promoted({ standby: left, ...row }: Environment): Environment {
  const { stackId, region, zones, vpcCidr, globalClusterIdentifier } = left as Standby;
  return {
    ...row,
    stackId,
    region,
    zones,
    vpcCidr,
    database: { ...row.database, replicaOf: globalClusterIdentifier },
  };
}
