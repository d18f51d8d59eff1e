import {
  type Environment,
  type RestoreSource,
  restoreSuffix,
  type Standby,
} from '../../lib/environment/schema';
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
    standby: {
      stackId: 'WalletStandby',
      region: alsoUnused,
      zones: withSla.zones.map((zone) => `${alsoUnused}${zone.at(-1)}`),
      vpcCidr: '10.250.0.0/16',
      globalClusterIdentifier: 'wallet-with-standby',
    },
  }),
) as Environment & Required<Pick<Environment, 'standby'>>;

/** Without a service level agreement, and so without what depends on it. */
export const withoutSla = rowWith(
  ({ serviceLevelAgreement }) => !serviceLevelAgreement,
  ({ alarmEmail: _, standby: __, objective: ___, ...row }) => ({ ...row, serviceLevelAgreement: false }),
);

/** A row with a second, published address for an emergency. */
export const withReserve = rowWith(
  ({ webhookOrigin }) => webhookOrigin?.reserve,
  (row) => ({ ...row, webhookOrigin: { reserve: true } }),
);

/** An additional valid row. */
export const newcomer: Environment = (() => {
  const { standby, domainNames, adoptedElasticIp, publicIpv4Pool, webhookOrigin, ...row } = withSla;
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

/** A row as in docs/runbook/emergencies.md, "Promoting the standby". */
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
