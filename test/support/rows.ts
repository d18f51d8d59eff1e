import { type Environment, type RestoreSource, restoreSuffix, type Standby } from '../../lib/environment';
import { environments } from '../../lib/environments';

/**
 * Rows by what they have, for tests that mean a property: they name no environment, so a row can come and go.
 * A row of the table where it has such a one, otherwise its first row with the property; valid either way.
 */
const rowWith = (has: (row: Environment) => unknown, given: (row: Environment) => Environment): Environment =>
  environments.find(has) ?? given(first);

/** The first row of the table, for what every environment has. */
export const first = environments[0] as Environment;

const accessing = (databaseAccess: Environment['databaseAccess']) =>
  rowWith(
    (row) => row.databaseAccess === databaseAccess,
    (row) => ({ ...row, databaseAccess }),
  );
export const withDataApi = accessing('data-api');
export const withDirectAccess = accessing('direct');

/** The first row of the table of each database access that it has: enough where nothing else of a row matters. */
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

/** Without a service level agreement, and so without what only one with it has. */
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

/** The first row, whatever else it has: its receivers know the one address. */
export const withoutReserve = (({ webhookOrigin: _, ...row }: Environment): Environment => row)(first);

/** Its receivers know a second address, for an emergency. */
export const withReserve = rowWith(
  ({ webhookOrigin }) => webhookOrigin?.reserve,
  (row) => ({ ...row, webhookOrigin: { reserve: true } }),
);

/** A row that the table does not have, in a region that it does not name, valid beside its rows. */
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

/** A row as docs/runbook.md, "Restore to a moment", has it written. */
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

/** A row as docs/runbook.md, "Promoting the standby", has it written. */
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
