import { type Environment, environments, type RestoreSource, restoreSuffix, sharedKeysOf } from './table';

type WithStandby = Environment & Required<Pick<Environment, 'standby'>>;

const having = (has: (row: Environment) => unknown) => environments.find(has) as Environment;

/** The first row of the table, for features of every environment. */
export const first = environments[0] as Environment;

export const withDirectAccess = having(({ databaseAccess }) => databaseAccess === 'direct');

export const withSla = having(({ serviceLevelAgreement }) => serviceLevelAgreement);
export const withoutSla = having(({ serviceLevelAgreement }) => !serviceLevelAgreement);
export const withStandby = having(({ standby }) => standby) as WithStandby;

/** The environments that the end-to-end tests share: one with the Data API, which is deprecated, one with direct access. */
export const running = [withoutSla, withDirectAccess] as const;

/** A region that the table does not use. */
const unused = 'ap-southeast-1';

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
export function keysIn(region: string, row: Environment, account = '111122223333') {
  const arns = sharedKeysOf(row).map(({ purpose, label }, index) => {
    const arn = `arn:aws:kms:${region}:${account}:key/mrk-${String(index).padStart(32, '0')}`;
    return { purpose, label, arn };
  });
  const labelled = (of: string) =>
    Object.fromEntries(arns.filter(({ purpose }) => purpose === of).map(({ label, arn }) => [label, arn]));
  const [{ arn: webhookSecrets = '' } = {}] = arns;
  return { webhookSecrets, accessToken: labelled('accessToken'), userAction: labelled('userAction') };
}

export const withEveryOption = (row: Environment) =>
  ({
    ...row,
    ...(row.serviceLevelAgreement && { alarmEmail: 'on-call@example.com' }),
    domainNames: domainsOf(row),
    webhookOrigin: { reserve: true },
    throttle: { ...row.throttle, requestsPerAddress: 30_000 },
    tags: { owner: 'payments', 'cost-center': '42' },
    ...(row.standby && {
      originAddress: adopted(7).address,
      standby: {
        ...row.standby,
        instances: 2,
        keys: keysIn(row.region, row),
        adoptedElasticIp: adopted(9),
        certificateArn: certificateIn(row.standby.region),
      },
    }),
  }) satisfies Environment;

/** As in docs/deploying.md, "Try it on AWS". */
export const disposable: Environment = { ...withoutSla, disposable: true };

const { standby: _standby, multiRegionKeys: _keys, ...ofOneRegion } = withSla;
/** An additional valid row. */
export const newcomer: Environment = {
  ...ofOneRegion,
  name: 'newcomer',
  stackId: 'WalletNewcomer',
  title: 'Singapore, production',
  region: unused,
  residencyRegions: [unused],
  zones: ['a', 'b', 'c'].map((letter) => `${unused}${letter}`),
  vpcCidr: '192.168.240.0/20',
  databaseAccess: 'direct',
  tokenIssuer: 'https://newcomer.example',
};

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
  const { replicaOf: _, ...database } = row.database;
  const globalClusterIdentifier = `${standby?.globalClusterIdentifier}${restoreSuffix({ restoreFrom })}`;
  return {
    ...row,
    database: { ...database, restoreFrom },
    ...(standby && { standby: { ...standby, globalClusterIdentifier } }),
  };
}

/** With all that docs/deploying.md has an operator write: names, addresses, keys. */
export const complete = withEveryOption(withStandby) as WithStandby;

export const serving = (row: Environment): WithStandby => ({
  ...row,
  standby: { ...(row as WithStandby).standby, serves: true },
});

/** The permanent form of a promotion, as docs/runbook/emergencies.md has an operator write it afterwards. */
export const promotedForGood: Environment = (() => {
  const { standby, originAddress, domainNames, ...row } = complete;
  const { globalClusterIdentifier: replicaOf, instances, keys, certificateArn, ...taken } = standby;
  return {
    ...row,
    ...taken,
    ...(keys && { keyReplicas: keys }),
    ...(originAddress && { formerAddress: originAddress }),
    ...(domainNames && certificateArn && { domainNames: { ...domainNames, certificateArn } }),
    database: { ...row.database, replicaOf },
  };
})();

/** Afterwards, with a new standby in the region that served before: its keys and its address remain there. */
export const returned: WithStandby = (() => {
  const { formerAddress, ...row } = promotedForGood;
  const { region, zones, vpcCidr } = complete;
  return {
    ...row,
    standby: {
      stackId: 'WalletBack',
      region,
      zones,
      vpcCidr,
      globalClusterIdentifier: 'wallet-back',
      certificateArn: certificateIn(region),
      adoptedKeys: keysIn(region, complete),
      adoptedElasticIp: adopted(7),
    },
  };
})();

/**
 * A row in each shape that the documents prescribe, for what holds of any. What an edit makes of them is a row of one of these
 * shapes again: environments.test.ts.
 */
export const shapes: Readonly<Record<string, Environment>> = {
  'on the first day': withStandby,
  complete,
  promoted: serving(complete),
  returned,
  restored: restored(complete, { cluster: 'wallet-eu-0123abcd', time: '2026-11-21T10:30:00Z' }),
  'with direct access': withDirectAccess,
  'without a service level agreement': withoutSla,
  'one more': withOtherOptions,
};
