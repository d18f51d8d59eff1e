import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import {
  type Environment,
  InvalidEnvironment,
  type InvalidField,
  restoreSuffix,
  validateEnvironments,
} from '../../lib/environment';
import { newcomer } from '../support/rows';

const eu = {
  name: 'eu',
  stackId: 'WalletEu',
  purpose: 'a test',
  region: 'eu-central-1',
  residencyRegions: ['eu-central-1', 'eu-west-1'],
  zones: ['eu-central-1a', 'eu-central-1b', 'eu-central-1c'],
  vpcCidr: '10.10.0.0/16',
  chains: ['mainnet', 'testnet'],
  support: { contact: 'help@example.com', guide: 'https://example.com/receivers' },
  serviceLevelAgreement: true,
  testFundsOnly: false,
  databaseAccess: 'data-api',
  database: {
    capacity: { minimum: 1, maximum: 32 },
    readers: 1,
    backupRetentionDays: 35,
    deletionProtection: true,
  },
  logRetentionDays: 365,
  throttle: { requestsPerSecond: 200, burst: 400 },
  tokenIssuer: 'https://eu.example',
  signingKeyLabels: { accessToken: ['2026-11'], userAction: ['2026-11'] },
  standby: {
    stackId: 'WalletEuStandby',
    region: 'eu-west-1',
    zones: ['eu-west-1a', 'eu-west-1b', 'eu-west-1c'],
    vpcCidr: '10.11.0.0/16',
    globalClusterIdentifier: 'wallet-eu',
  },
} satisfies Environment;

const newcomerCertificate = `arn:aws:acm:${newcomer.region}:123456789012:certificate/1a2b-3c`;
const snapshot = 'arn:aws:rds:eu-central-1:111122223333:cluster-snapshot:before';
const restoreFrom = { cluster: 'wallet-eu-0123abcd', time: '2026-11-21T10:30:00Z' };
/** Every field, except mutually exclusive ones. */
const full = {
  ...eu,
  database: { ...eu.database, restoreFrom },
  standby: { ...eu.standby, globalClusterIdentifier: `wallet-eu${restoreSuffix({ restoreFrom })}` },
  deprecation: { since: '2026-01-01', sunset: '2027-01-01' },
  domainNames: {
    api: 'api.example.com',
    dashboard: 'dashboard.example.com',
    hostedZone: { id: 'Z0123456789ABCDEFGHIJ', name: 'example.com' },
    certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/1a2b-3c',
  },
  accessTokenMinutes: 60,
  alarmEmail: 'on-call@example.com',
  adoptedElasticIp: { allocationId: 'eipalloc-0123456789abcdef0', address: '203.0.113.7' },
  webhookOrigin: {
    reserve: true,
    adoptedReserve: { allocationId: 'eipalloc-0123456789abcdef1', address: '203.0.113.8' },
  },
} satisfies Environment;

/** Values that each field refuses. */
const refused: Record<string, readonly unknown[]> = {
  name: [undefined, '', 'EU', '1eu', 5],
  stackId: [undefined, 'walletEu', 'Wallet-Eu', 'W'],
  purpose: [undefined, ''],
  region: [
    undefined,
    'frankfurt',
    'eu-central',
    'eu-central-1a',
    'eu-central-9',
    'me-centrall-1',
    'cn-north-1',
  ],
  residencyRegions: [
    undefined,
    [],
    ['eu-west-1'],
    ['eu-central-1', 'eu-central-1'],
    ['eu-central-1', 'eu-wset-1'],
    'eu-central-1',
  ],
  zones: [
    undefined,
    3,
    [],
    ['eu-central-1a'],
    ['eu-central-1a', 'eu-central-1a'],
    ['eu-central-1a', 'eu-west-1b'],
    ['eu-central-1a', 'eu-central-1-ham-1a'],
    ['a', 'b'],
  ],
  vpcCidr: [undefined, '10.10.0.0/8', '10.256.0.0/16', '192.168.0.0/16'],
  chains: [undefined, [], ['ropsten'], ['mainnet', 'mainnet']],
  'support.contact': [undefined, '', 'us', 'a@b', 'http://example.com/'],
  'support.guide': [undefined, 'docs/receivers.md', 'http://example.com/'],
  serviceLevelAgreement: [undefined, 'yes'],
  testFundsOnly: [undefined, 'yes'],
  'deprecation.since': [undefined, 'yesterday', '2026-13-01', '2026-02-30'],
  'deprecation.sunset': ['2025-12-31', 'never'],
  databaseAccess: [undefined, 'proxy'],
  'database.capacity.minimum': [undefined, 0, 0.7, 257],
  'database.capacity.maximum': [undefined, 0.5, 257, 1.2],
  'database.pauseAfterMinutes': [5],
  'database.readers': [undefined, 0, 16, 1.5],
  'database.backupRetentionDays': [undefined, 7, 36],
  'database.deletionProtection': [undefined, false],
  'database.replicaOf': ['Wallet', 'wallet--eu', 'wallet-eu', 'wallet-1'],
  'database.restoreFrom': [
    {},
    { cluster: restoreFrom.cluster },
    { time: restoreFrom.time },
    { ...restoreFrom, snapshot },
    { snapshot: 'arn:aws:rds:eu-west-1:111122223333:cluster-snapshot:before' },
  ],
  'database.restoreFrom.snapshot': ['before', 'arn:aws:rds:eu-central-1:111122223333:snapshot:before'],
  'database.restoreFrom.cluster': ['Wallet', 'wallet-', 'arn:aws:rds:eu-west-1:111122223333:cluster:wallet'],
  'database.restoreFrom.time': [
    '2026-11-21',
    '2026-11-21T10:30:00',
    '2026-11-21T10:30:00+01:00',
    '2026-11-21T10:30:00.5Z',
    '2026-02-30T10:30:00Z',
    'yesterday',
  ],
  alarmEmail: ['', 'on-call', 'a@b', 'a b@example.com', 7],
  logRetentionDays: [undefined, 2, 9999],
  'throttle.requestsPerSecond': [undefined, 0, 2501],
  'throttle.burst': [undefined, 100, 1251],
  tokenIssuer: [undefined, 'http://eu.example', 'https://eu.example/', 'eu'],
  'signingKeyLabels.accessToken': [undefined, [], ['november'], ['2026-13'], ['2026-11', '2026-11']],
  'signingKeyLabels.userAction': [undefined, []],
  accessTokenMinutes: [0, 4, 1.5, 10_081, '60'],
  disposable: ['yes', true],
  'domainNames.api': [undefined, 'API.example.com', 'localhost'],
  'domainNames.dashboard': [undefined, 'api.example.com'],
  'domainNames.hostedZone.id': [undefined, 'example.com', '/hostedzone/Z0123456789'],
  'domainNames.hostedZone.name': [undefined, 'example.com.', 'example.net', 'ample.com'],
  'domainNames.certificateArn': ['arn:aws:acm:us-east-1:123456789012:certificate/1a2b-3c'],
  'adoptedElasticIp.allocationId': [undefined, '203.0.113.7'],
  'adoptedElasticIp.address': [undefined, '203.0.113.256', '203.0.113', '203.0.113.7/32'],
  publicIpv4Pool: ['amazon', 'ipv4pool-ec2-0123456789abcdef0'],
  'webhookOrigin.reserve': [undefined, 'yes', false],
  'webhookOrigin.adoptedReserve.allocationId': [undefined, '203.0.113.8'],
  'webhookOrigin.adoptedReserve.address': [undefined, '203.0.113.256'],
  'standby.stackId': [undefined, 'walletEuStandby'],
  'standby.region': [undefined, 'eu-central-1', 'us-east-1'],
  'standby.zones': [
    undefined,
    ['eu-west-1a', 'eu-west-1b'],
    ['eu-central-1a', 'eu-central-1b', 'eu-central-1c'],
  ],
  'standby.vpcCidr': [undefined, '192.168.0.0/16'],
  'standby.globalClusterIdentifier': [undefined, 'Wallet', '1wallet', 'wallet-', 'wallet--eu', 'wallet-eu'],
  'standby.instances': [-1, 17, 1.5],
};

function withField(row: object, field: string, value: unknown): Record<string, unknown> {
  const changed = structuredClone(row) as Record<string, unknown>;
  const path = field.split('.');
  let parent = changed;
  for (const key of path.slice(0, -1)) parent = parent[key] as Record<string, unknown>;
  parent[path[path.length - 1] as string] = value;
  return changed;
}

/** The refused fields of rows, by path. */
function refusal(...rows: readonly unknown[]): Readonly<Record<string, InvalidField>> {
  try {
    validateEnvironments(rows);
  } catch (error) {
    if (!(error instanceof InvalidEnvironment)) throw error;
    return Object.fromEntries(error.fields.map((each) => [each.field, each]));
  }
  return {};
}

describe('a row', () => {
  it('is valid with every field, and without the optional ones', () => {
    expect(validateEnvironments([full])).toEqual([full]);
    const { standby: _, ...least } = eu;
    expect(refusal(least)).toEqual({});
  });

  it('has an invalid example for each field', () => {
    const fieldsOf = (value: object, prefix = ''): string[] =>
      Object.entries(value).flatMap(([name, inner]) =>
        typeof inner === 'object' && !Array.isArray(inner)
          ? fieldsOf(inner, `${prefix}${name}.`)
          : `${prefix}${name}`,
      );
    expect(Object.keys(refused)).toEqual(expect.arrayContaining(fieldsOf(full)));
  });

  it.each(
    Object.entries(refused).flatMap(([field, values]) => values.map((value) => [field, value] as const)),
  )('is refused for %s = %j, with what to write instead', (field, value) => {
    const label = field === 'name' ? (typeof value === 'string' && value) || 'environments[0]' : 'eu';
    const found = refusal(withField(full, field, value))[`${label}.${field}`];
    expect(found).toMatchObject({ remedy: expect.stringMatching(/^[A-Z].+\.$/) });
    expect(found?.value).toEqual(value);
  });

  it('is refused with all invalid fields and relations at once', () => {
    const row = { ...full, vpcCird: 1, region: 'frankfurt', purpose: undefined, disposable: true };
    expect(Object.keys(refusal(row)).sort()).toEqual([
      'eu.disposable',
      'eu.purpose',
      'eu.region',
      'eu.vpcCird',
    ]);
    expect(() => validateEnvironments([row])).toThrow(
      /eu\.purpose is missing\. Say in.*\n?.*eu\.region is "frankfurt"\. Give the code/s,
    );
  });

  const { standby: _, alarmEmail: __, ...alone } = full;
  const { standby: ___, ...least } = eu;
  const paused = { ...eu.database, capacity: { minimum: 0, maximum: 4 }, pauseAfterMinutes: 15 };
  const { hostedZone, certificateArn, ...names } = full.domainNames;
  const automatic =
    'arn:aws:rds:eu-central-1:111122223333:cluster-snapshot:rds:wallet-eu-0123abcd-2026-11-21-03-10';
  it.each<[string, object, readonly string[]]>([
    [
      'a standby of a cluster that may pause',
      { ...full, alarmEmail: 'a', serviceLevelAgreement: false, database: paused },
      ['database.capacity.minimum', 'alarmEmail'],
    ],
    ['a cluster that may pause', { ...least, serviceLevelAgreement: false, database: paused }, []],
    [
      'no time after which it pauses',
      withField(
        { ...least, serviceLevelAgreement: false, database: paused },
        'database.pauseAfterMinutes',
        undefined,
      ),
      ['database.pauseAfterMinutes'],
    ],
    ['a certificate to create', { ...alone, domainNames: { ...names, hostedZone } }, []],
    ['a certificate of its own', { ...alone, domainNames: { ...names, certificateArn } }, []],
    ['no certificate', { ...alone, domainNames: names }, ['domainNames.certificateArn']],
    ['a promoted cluster', { ...least, database: { ...eu.database, replicaOf: 'wallet-eu' } }, []],
    [
      'a promoted cluster with a new standby',
      {
        ...eu,
        database: { ...eu.database, replicaOf: 'wallet-eu' },
        standby: { ...eu.standby, globalClusterIdentifier: 'wallet-eu-2' },
      },
      [],
    ],
    ['a restore from a snapshot', { ...least, database: { ...eu.database, restoreFrom: { snapshot } } }, []],
    [
      'a restore from an automated snapshot',
      { ...least, database: { ...eu.database, restoreFrom: { snapshot: automatic } } },
      [],
    ],
  ])('with %s', (_name, row, fields) => {
    expect(Object.keys(refusal(row)).sort()).toEqual(fields.map((field) => `eu.${field}`).sort());
  });

  it('that restores a cluster with a standby needs a suffix for its new global database', () => {
    const field = 'standby.globalClusterIdentifier';
    expect(refusal(withField(full, field, 'wallet-eu'))[`eu.${field}`]?.remedy).toContain(
      `"${restoreSuffix({ restoreFrom })}" at the end`,
    );
  });

  it.each([null, 'eu'])('is not %j', (row) => {
    expect(Object.keys(refusal(row))).toEqual(['environments[0]']);
  });

  it.each(['deprecated', 'database.reader', 'adoptedElasticIp.adress'])('has no field %s', (field) => {
    expect(Object.keys(refusal(withField(full, field, 1)))).toContain(`eu.${field}`);
  });

  it.each([
    ['database', undefined],
    ['database.capacity', 4],
  ])('has an object for %s, not %j', (field, value) => {
    expect(refusal(withField(full, field, value))).toEqual({
      [`eu.${field}`]: { field: `eu.${field}`, value, remedy: expect.stringContaining('Write an object') },
    });
  });

  it('may have every retention that CloudWatch supports', () => {
    const days = Object.values(RetentionDays).filter((value) => typeof value === 'number');
    for (const logRetentionDays of days.filter((value) => value !== RetentionDays.INFINITE))
      expect(refusal({ ...full, logRetentionDays })).toEqual({});
  });
});

describe('unique fields of two rows', () => {
  const { standby, domainNames, adoptedElasticIp } = full;
  const refusalOf = (changes: Partial<Environment>) =>
    Object.values(refusal(full, { ...newcomer, ...changes }));

  it('are accepted when they differ', () => {
    expect(refusalOf({})).toEqual([]);
  });

  it.each<[string, Partial<Environment>, string]>([
    ['stackId', { stackId: full.stackId }, 'stackId'],
    ['stackId', { stackId: standby.stackId }, 'standby.stackId'],
    ['vpcCidr', { vpcCidr: full.vpcCidr }, 'vpcCidr'],
    ['vpcCidr', { vpcCidr: standby.vpcCidr }, 'standby.vpcCidr'],
    [
      'standby.globalClusterIdentifier',
      {
        residencyRegions: [newcomer.region, standby.region],
        standby: { ...standby, stackId: 'WalletNewcomerStandby', vpcCidr: '10.241.0.0/16' },
      },
      'standby.globalClusterIdentifier',
    ],
    ['tokenIssuer', { tokenIssuer: full.tokenIssuer }, 'tokenIssuer'],
    [
      'domainNames.api',
      { domainNames: { ...domainNames, certificateArn: newcomerCertificate } },
      'domainNames.api',
    ],
    ['adoptedElasticIp.allocationId', { adoptedElasticIp }, 'adoptedElasticIp.allocationId'],
    [
      'webhookOrigin.adoptedReserve.allocationId',
      { webhookOrigin: { reserve: true, adoptedReserve: adoptedElasticIp } },
      'adoptedElasticIp.allocationId',
    ],
  ])('are refused: %s in %j', (field, changes, owner) => {
    expect(refusalOf(changes)[0]).toMatchObject({
      field: `${newcomer.name}.${field}`,
      remedy: `eu.${owner} is the same: choose another.`,
    });
  });

  it('are named by index when the name itself is repeated', () => {
    expect(refusalOf({ name: full.name })).toMatchObject([
      { field: 'environments[1].name', remedy: 'environments[0].name is the same: choose another.' },
    ]);
  });
});

it.each([[], {}, undefined])('%j is not a table', (table) => {
  expect(() => validateEnvironments(table)).toThrow(/^environments is .*Give a list/);
});
