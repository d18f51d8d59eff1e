import {
  type Environment,
  InvalidEnvironment,
  restoreSuffix,
  validateEnvironments,
} from '../../lib/environment';

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

const { standby: _, ...alone } = eu;
const snapshot = 'arn:aws:rds:eu-central-1:111122223333:cluster-snapshot:rds:wallet-eu-2026-11-21-03-10';
const restoreFrom = { cluster: 'wallet-eu-0123abcd', time: '2026-11-21T10:30:00Z' };
const hostedZone = { id: 'Z0123456789ABCDEFGHIJ', name: 'example.com' };
const certificateArn = 'arn:aws:acm:eu-central-1:123456789012:certificate/1a2b-3c';
/** Every field, except mutually exclusive ones. */
const full = {
  ...eu,
  database: { ...eu.database, restoreFrom },
  standby: { ...eu.standby, globalClusterIdentifier: `wallet-eu${restoreSuffix({ restoreFrom })}` },
  deprecation: { since: '2026-01-01', sunset: '2027-01-01' },
  domainNames: { api: 'api.example.com', dashboard: 'dashboard.example.com', hostedZone, certificateArn },
  accessTokenMinutes: 60,
  alarmEmail: 'on-call@example.com',
  adoptedElasticIp: { allocationId: 'eipalloc-0123456789abcdef0', address: '203.0.113.7' },
  publicIpv4Pool: 'ipv4pool-ec2-0123456789abcdef0',
  webhookOrigin: {
    reserve: true,
    adoptedReserve: { allocationId: 'eipalloc-0123456789abcdef1', address: '203.0.113.8' },
  },
} satisfies Environment;
const paused = { ...eu.database, capacity: { minimum: 0, maximum: 4 }, pauseAfterMinutes: 15 };

const changed = (row: object, changes: Readonly<Record<string, unknown>>) => {
  const copy = structuredClone(row);
  for (const [path, value] of Object.entries(changes)) {
    const names = path.split('.');
    const last = names.pop() as string;
    // biome-ignore lint/suspicious/noExplicitAny: a wrong row has no type
    const parent = names.reduce((object: any, name) => object[name], copy);
    parent[last] = value;
  }
  return copy;
};

function refusalOf(...rows: readonly unknown[]): InvalidEnvironment {
  try {
    validateEnvironments(rows);
  } catch (error) {
    if (error instanceof InvalidEnvironment) return error;
    throw error;
  }
  return new InvalidEnvironment([]);
}
const wrongIn = (...rows: readonly unknown[]) => refusalOf(...rows).fields.map(({ field }) => field);

describe('a row', () => {
  it.each<[string, object]>([
    ['every field', full],
    ['no optional field', alone],
    ['a cluster that may pause', { ...alone, serviceLevelAgreement: false, database: paused }],
    ['a certificate to create', changed(full, { domainNames: { ...full.domainNames, hostedZone } })],
    ['a promoted cluster', changed(alone, { 'database.replicaOf': 'wallet-eu' })],
    [
      'a promoted cluster and a new standby',
      changed(eu, { 'database.replicaOf': 'wallet-eu', 'standby.globalClusterIdentifier': 'wallet-eu-2' }),
    ],
    ['a restore from an automated snapshot', changed(alone, { 'database.restoreFrom': { snapshot } })],
  ])('is valid with %s', (_, row) => {
    expect(wrongIn(row)).toEqual([]);
  });

  it('is refused with all wrong fields at once, each with its value and what to write', () => {
    const wrong = {
      name: 'EU',
      stackId: 'Wallet-Eu',
      purpose: undefined,
      region: 'eu-central-9',
      residencyRegions: ['eu-central-1', 'eu-wset-1'],
      zones: [],
      vpcCidr: '10.256.0.0/16',
      chains: ['mainnet', 'mainnet'],
      'support.contact': 'a@b',
      'support.guide': 'docs/receivers.md',
      serviceLevelAgreement: 'yes',
      testFundsOnly: null,
      'deprecation.since': '2026-13-01',
      'deprecation.sunset': 'never',
      databaseAccess: 'proxy',
      'database.capacity.minimum': 0.7,
      'database.capacity.maximum': 257,
      'database.readers': 1.5,
      'database.backupRetentionDays': 36,
      'database.deletionProtection': 'no',
      'database.replicaOf': 'wallet--eu',
      'database.restoreFrom.snapshot': 'arn:aws:rds:eu-central-1:111122223333:snapshot:before',
      'database.restoreFrom.cluster': 'wallet-',
      'database.restoreFrom.time': '2026-11-21T10:30:00+01:00',
      alarmEmail: 'a@b',
      logRetentionDays: 2,
      'throttle.requestsPerSecond': 0,
      'throttle.burst': 1251,
      tokenIssuer: 'https://eu.example/',
      'signingKeyLabels.accessToken': ['2026-13'],
      'signingKeyLabels.userAction': ['2026-11', '2026-11'],
      accessTokenMinutes: 10_081,
      disposable: 'yes',
      'domainNames.api': 'localhost',
      'domainNames.dashboard': 'API.example.com',
      'domainNames.hostedZone.id': '/hostedzone/Z0123456789',
      'domainNames.hostedZone.name': 'example.com.',
      'domainNames.certificateArn': 'arn:aws:acm:eu-central-1:1:certificate/1a2b-3c',
      'adoptedElasticIp.allocationId': '203.0.113.7',
      'adoptedElasticIp.address': '203.0.113.7/32',
      publicIpv4Pool: 'amazon',
      'webhookOrigin.reserve': 'yes',
      'standby.globalClusterIdentifier': '1wallet',
      'standby.instances': -1,
    };
    const { fields, message } = refusalOf(changed(full, wrong));
    expect(Object.fromEntries(fields.map(({ field, value }) => [field.slice('EU.'.length), value]))).toEqual(
      wrong,
    );
    for (const { remedy } of fields) expect(remedy).toMatch(/^[A-Z].+\.$/);
    expect(message).toContain('EU.purpose is missing. Describe in 1 to 100 characters');
    expect(message).toContain('EU.region is "eu-central-9". Give the code of an AWS region');
  });

  it.each<[string, unknown]>([
    ['region', 'eu-central-1a'],
    ['region', 'cn-north-1'],
    ['vpcCidr', '192.168.0.0/16'],
    ['vpcCidr', '10.10.0.0/8'],
    ['tokenIssuer', 'http://eu.example'],
    ['tokenIssuer', 'https://[eu'],
    ['residencyRegions', 'eu-central-1'],
    ['database.capacity', 4],
    ['database', undefined],
    ['deprecated', true],
    ['deprecation.sunset', '2027-02-30'],
    ['adoptedElasticIp.adress', '203.0.113.7'],
  ])('is refused for %s = %j', (field, value) => {
    expect(wrongIn(changed(full, { [field]: value }))).toContain(`eu.${field}`);
  });

  it('is refused without a field', () => {
    const { purpose: _, ...row } = eu;
    expect(refusalOf(row).message).toBe(
      'eu.purpose is missing. Compare with the fields in lib/environment.ts.',
    );
    expect(wrongIn(null)).toEqual(['environments[0]']);
  });

  it.each<[string, unknown, object?]>([
    ['residencyRegions', ['eu-west-1']],
    ['zones', ['eu-central-1a', 'eu-west-1b', 'eu-central-1c']],
    ['zones', ['eu-central-1a'], alone],
    ['deprecation.sunset', '2025-12-31'],
    ['database.capacity.maximum', 0.5],
    ['database.capacity.minimum', 0],
    ['database.capacity.minimum', 0, { ...eu, serviceLevelAgreement: false }],
    ['database.pauseAfterMinutes', 5],
    ['database.pauseAfterMinutes', undefined, { ...alone, serviceLevelAgreement: false, database: paused }],
    ['database.readers', 0],
    ['database.backupRetentionDays', 7],
    ['database.deletionProtection', false],
    ['disposable', true],
    ['database.replicaOf', 'wallet-eu', eu],
    ['database.replicaOf', 'wallet-1', full],
    ['database.restoreFrom', {}],
    ['database.restoreFrom', { cluster: restoreFrom.cluster }],
    ['database.restoreFrom', { ...restoreFrom, snapshot }],
    ['database.restoreFrom', { snapshot: snapshot.replace('eu-central-1', 'eu-west-1') }],
    ['alarmEmail', 'on-call@example.com', { ...alone, serviceLevelAgreement: false }],
    ['throttle.burst', 100],
    ['domainNames.hostedZone.name', 'ample.com'],
    ['domainNames.certificateArn', certificateArn.replace('eu-central-1', 'us-east-1')],
    [
      'domainNames.certificateArn',
      undefined,
      { ...full, domainNames: { ...full.domainNames, hostedZone: undefined } },
    ],
    ['webhookOrigin.reserve', false],
    ['standby.region', 'eu-central-1'],
    ['standby.region', 'us-east-1'],
    ['standby.zones', ['eu-west-1a', 'eu-west-1b']],
    ['standby.zones', eu.zones],
    ['standby.globalClusterIdentifier', 'wallet-eu'],
  ])('is refused when %s is %j, which contradicts the others', (field, value, row = full) => {
    const { fields } = refusalOf(changed(row, { [field]: value }));
    expect(fields).toContainEqual({
      field: `eu.${field}`,
      value,
      remedy: expect.stringMatching(/^[A-Z].+\.$/),
    });
  });
});

it('a restore with a standby needs a new global database, whose suffix the refusal names', () => {
  const row = changed(full, { 'standby.globalClusterIdentifier': 'wallet-eu' });
  expect(refusalOf(row).message).toContain(`Append "${restoreSuffix({ restoreFrom })}"`);
});

describe('two rows', () => {
  const { standby, domainNames, adoptedElasticIp } = full;
  const other = {
    ...alone,
    name: 'other',
    stackId: 'WalletOther',
    vpcCidr: '10.240.0.0/16',
    tokenIssuer: 'https://other.example',
  };

  it('are valid when they differ', () => {
    expect(wrongIn(full, other)).toEqual([]);
  });

  it.each<[string, Partial<Environment>, string]>([
    ['name', { name: 'eu' }, 'name'],
    ['stackId', { stackId: full.stackId }, 'stackId'],
    ['stackId', { stackId: standby.stackId }, 'standby.stackId'],
    ['vpcCidr', { vpcCidr: standby.vpcCidr }, 'standby.vpcCidr'],
    [
      'standby.globalClusterIdentifier',
      { standby: { ...standby, stackId: 'WalletOtherStandby', vpcCidr: '10.241.0.0/16' } },
      'standby.globalClusterIdentifier',
    ],
    ['tokenIssuer', { tokenIssuer: full.tokenIssuer }, 'tokenIssuer'],
    [
      'domainNames.api',
      { domainNames: { ...domainNames, dashboard: 'other.example.com' } },
      'domainNames.api',
    ],
    [
      'domainNames.dashboard',
      { domainNames: { ...domainNames, api: domainNames.dashboard } },
      'domainNames.dashboard',
    ],
    [
      'webhookOrigin.adoptedReserve.allocationId',
      { webhookOrigin: { reserve: true, adoptedReserve: adoptedElasticIp } },
      'adoptedElasticIp.allocationId',
    ],
  ])('have no %s in common', (field, changes, owner) => {
    const row = { ...other, ...changes };
    expect(refusalOf(full, row).fields).toContainEqual({
      field: `${row.name}.${field}`,
      value: expect.anything(),
      remedy: `eu.${owner} has the same value: choose another.`,
    });
  });
});

it.each([[], {}, undefined])('%j is not a table', (table) => {
  expect(() => validateEnvironments(table)).toThrow(/^environments is .*Give a list/);
});
