import { InvalidEnvironment } from '../../lib/environment/messages';
import { validateEnvironments } from '../../lib/environment/rules';
import type { Environment } from '../../lib/environment/schema';
import {
  keysIn,
  promotedForGood,
  restored,
  serving,
  withEveryOption,
  withOtherOptions,
  withStandby,
} from '../support/rows';

const { region, standby, ...rest } = withStandby;
const eu = { ...withStandby, name: 'eu' };
const alone = { ...rest, region, name: 'eu' };
const { objective: _, ...unpromised } = { ...alone, serviceLevelAgreement: false };
const snapshot = `arn:aws:rds:${region}:111122223333:cluster-snapshot:rds:wallet-eu-2026-11-21-03-10`;
const restoreFrom = { cluster: 'wallet-eu-0123abcd', time: '2026-11-21T10:30:00Z' };
const certificateArn = `arn:aws:acm:${region}:123456789012:certificate/1a2b-3c`;
const options = withEveryOption(eu);
const everywhere = { residencyRegions: [region, standby.region, 'eu-west-2'] };
const { adoptedElasticIp, webhookOrigin } = withOtherOptions;
/** Every field, except mutually exclusive ones. */
const full = restored(
  {
    ...options,
    adoptedElasticIp,
    webhookOrigin,
    accessTokenMinutes: 60,
    ...everywhere,
    keyReplicas: keysIn('eu-west-2', eu),
    adoptedKeys: keysIn(region, eu),
    formerAddress: '203.0.113.7',
    originAddress: adoptedElasticIp.address,
    deprecation: { since: '2026-01-01', sunset: '2027-01-01' },
    airGappedBackups: { retentionDays: 7 },
  },
  restoreFrom,
) as Environment & typeof withStandby & typeof withOtherOptions;
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
    ['a cluster that may pause', { ...unpromised, database: paused }],
    ['a range in 10.0.0.0/8', { ...alone, vpcCidr: '10.10.240.0/20' }],
    ['a range in 172.16.0.0/12', { ...alone, vpcCidr: '172.31.0.0/16' }],
    ['a range in 192.168.0.0/16', { ...alone, vpcCidr: '192.168.128.0/17' }],
    ['a standby and keys that cannot be replicated', { ...eu, multiRegionKeys: false }],
    ['a promotion after a restore', serving(restored(options, restoreFrom))],
    ['a restore after a promotion', restored(promotedForGood, restoreFrom)],
    ['a restore from an automated snapshot', changed(alone, { 'database.restoreFrom': { snapshot } })],
  ])('is valid with %s', (_, row) => {
    expect(wrongIn(row)).toEqual([]);
  });

  it.each<[field: string, change: object]>([
    ...['10.10.1.0/16', '172.32.0.0/16', '192.169.0.0/16', '10.10.0.0/21', '10.10.0.0/16/16'].map(
      (vpcCidr): [string, object] => ['vpcCidr', { vpcCidr }],
    ),
    ...['service', 'environment', 'aws:cost', 'AWS:cost', 'deprecated', 'a\nb', ''].map(
      (tag): [string, object] => [`tags.${tag}`, { tags: { [tag]: 'x' } }],
    ),
    ['tags', { tags: Object.fromEntries(Array.from({ length: 41 }, (_, index) => [`tag${index}`, 'x'])) }],
  ])('is refused only for its %s: %j', (field, change) => {
    const fields = refusalOf({ ...alone, ...change }).fields.map((each) => each.field);
    expect(fields).toEqual([`${alone.name}.${field}`]);
  });

  it('is refused with all wrong fields at once, each with its value and what to write', () => {
    const wrong = {
      name: 'EU',
      stackId: 'Wallet-Eu',
      title: undefined,
      region: 'cn-north-1',
      residencyRegions: ['eu-central-1', 'eu-wset-1'],
      zones: [],
      vpcCidr: '10.10.0.0/8',
      chains: ['mainnet', 'mainnet'],
      'support.contact': 'a@b',
      'support.guide': 'docs/receivers.md',
      serviceLevelAgreement: 'yes',
      'deprecation.sunset': '2027-02-30',
      databaseAccess: 'proxy',
      'database.capacity.minimum': 0.7,
      'database.capacity.maximum': 257,
      'database.readers': 1.5,
      'database.backupRetentionDays': 36,
      'database.replicaOf': 'wallet--eu',
      'database.restoreFrom.snapshot': 'arn:aws:rds:eu-central-1:111122223333:snapshot:before',
      'database.restoreFrom.time': '2026-11-21T10:30:00+01:00',
      alarmEmail: 'a@b',
      logRetentionDays: 2,
      'objective.availability': 1,
      'throttle.requestsPerSecond': 0,
      'throttle.burst': 1251,
      'throttle.requestsPerAddress': 9,
      tokenIssuer: 'https://eu.example/',
      accessTokenMinutes: 10_081,
      'signingKeyLabels.accessToken': ['2026-13'],
      'domainNames.api': 'localhost',
      'domainNames.certificateArn': 'arn:aws:acm:eu-central-1:1:certificate/1a2b-3c',
      'adoptedElasticIp.allocationId': '203.0.113.7',
      'adoptedElasticIp.address': '203.0.113.7/32',
      formerAddress: '203.0.113.7/32',
      originAddress: '203.0.113.7/32',
      'standby.serves': 'yes',
      multiRegionKeys: 'yes',
      'keyReplicas.webhookSecrets': keysIn(region, eu).webhookSecrets?.replace('mrk-', ''),
      'adoptedKeys.accessToken.2026-11': 'mrk-0',
      'standby.globalClusterIdentifier': '1wallet',
      'standby.instances': -1,
      'standby.keys.userAction': 'all',
      'standby.certificateArn': certificateArn.replace(':123456789012:', ':1:'),
      'airGappedBackups.retentionDays': 6,
    };
    const { fields, message } = refusalOf(changed(full, wrong));
    const found = fields.map(({ field, value }) => [field.slice('EU.'.length), value]);
    expect(Object.fromEntries(found)).toEqual(wrong);
    expect(message).toContain('EU.title is missing. Name the environment for people in 1 to 40 characters');
    expect(message).toContain('EU.region is "cn-north-1". Give the code of an AWS region');
  });

  it('is refused if it is no object, or has an unknown field', () => {
    expect(wrongIn(null)).toEqual(['environments[0]']);
    expect(wrongIn({ ...eu, deprecated: true })).toEqual(['eu.deprecated']);
  });

  const rows = {
    'a row with every field': full,
    'a row with a standby': eu,
    'a row with a standby without a service level agreement': { ...eu, serviceLevelAgreement: false },
    'a row without optional fields': alone,
    'a row without a service level agreement': unpromised,
    'a row that may pause': { ...unpromised, database: paused },
    'a row in one region': changed(alone, { residencyRegions: [region], multiRegionKeys: undefined }),
  };
  const refused: [field: string, value: unknown, row?: keyof typeof rows][] = [
    ['tokenIssuer', 'http://eu.example'],
    ['residencyRegions', ['us-east-1']],
    ['zones', ['eu-central-1a', 'eu-west-1b', 'eu-central-1c']],
    ['zones', eu.zones.slice(0, 1), 'a row without optional fields'],
    ['deprecation.sunset', '2025-12-31'],
    ['database.capacity.maximum', 0.5],
    ['database.capacity.minimum', 0],
    ['database.capacity.minimum', 0, 'a row with a standby without a service level agreement'],
    ['database.pauseAfterMinutes', 5],
    ['database.pauseAfterMinutes', undefined, 'a row that may pause'],
    ['database.readers', 0],
    ['database.backupRetentionDays', 7],
    ['database.deletionProtection', false],
    ['disposable', true],
    ['database.replicaOf', 'wallet-eu', 'a row with a standby'],
    ['database.replicaOf', 'wallet-1'],
    ['database.restoreFrom', { cluster: restoreFrom.cluster }],
    ['database.restoreFrom.time', '2026-11-21T24:00:00Z'],
    ['database.restoreFrom', { snapshot: snapshot.replace(region, 'us-east-1') }],
    ['alarmEmail', 'on-call@example.com', 'a row without a service level agreement'],
    ['airGappedBackups', { retentionDays: 35 }, 'a row without a service level agreement'],
    ['objective', undefined],
    ['objective', eu.objective, 'a row without a service level agreement'],
    ['throttle.burst', 100],
    ['domainNames.certificateArn', certificateArn.replace(region, 'us-east-1')],
    ['webhookOrigin.reserve', false],
    ['multiRegionKeys', undefined],
    ['multiRegionKeys', undefined, 'a row with a standby'],
    ['multiRegionKeys', false],
    ['multiRegionKeys', true, 'a row in one region'],
    ['originAddress', '203.0.113.70'],
    ['keyReplicas', keysIn(region, eu)],
    ['keyReplicas', keysIn('us-east-1', eu)],
    ['adoptedKeys', keysIn(standby.region, eu)],
    ['standby.keys', keysIn(standby.region, eu)],
    ['standby.keys', keysIn('us-east-1', eu)],
    ['standby.keys', { ...keysIn(region, eu), userAction: keysIn(region, eu).accessToken }],
    // The keys that sign have no replica.
    ['standby.keys', {}, 'a row with a standby'],
    ['standby.keys', { ...keysIn(region, eu), userAction: {} }],
    ['standby.adoptedKeys', keysIn(region, eu)],
    ['standby.certificateArn', certificateArn],
    ['standby.certificateArn', undefined],
    ['standby.region', region],
    ['standby.region', 'us-east-1'],
    ['standby.zones', ['eu-west-1a', 'eu-west-1b']],
    ['standby.zones', eu.zones],
    // The suffix of the restore is missing.
    ['standby.globalClusterIdentifier', 'wallet-eu'],
  ];
  it.each(refused)('is refused for its %s: %j', (field, value, row = 'a row with every field') => {
    const { fields } = refusalOf(changed(rows[row], { [field]: value }));
    expect(fields).toContainEqual({ field: `eu.${field}`, value, remedy: expect.any(String) });
  });
});

it('two rows have no name, stack, range, issuer, address or global database in common', () => {
  const { standby, domainNames, adoptedElasticIp } = full;
  const other = { ...alone, name: 'other', stackId: 'WalletOther', vpcCidr: '10.240.0.0/16' };
  expect(wrongIn(full, { ...other, tokenIssuer: 'https://other.example' })).toEqual([]);
  expect(wrongIn(alone, alone)).toContain('eu.name');
  const repeating = {
    ...other,
    stackId: standby.stackId,
    vpcCidr: standby.vpcCidr,
    standby: { ...standby, stackId: 'WalletOtherStandby', vpcCidr: '10.241.0.0/16' },
    domainNames: { ...domainNames, api: domainNames.dashboard, dashboard: 'other.example.com' },
    webhookOrigin: { reserve: true, adoptedReserve: adoptedElasticIp },
  };
  const { fields } = refusalOf(full, repeating);
  expect(fields.map(({ field, remedy }) => `${field}: ${remedy}`)).toEqual(
    [
      'other.stackId: eu.standby.stackId',
      'other.vpcCidr: eu.standby.vpcCidr',
      'other.standby.globalClusterIdentifier: eu.standby.globalClusterIdentifier',
      'other.tokenIssuer: eu.tokenIssuer',
      'other.domainNames.api: eu.domainNames.dashboard',
      'other.standby.adoptedElasticIp.allocationId: eu.standby.adoptedElasticIp.allocationId',
      'other.webhookOrigin.adoptedReserve.allocationId: eu.adoptedElasticIp.allocationId',
    ].map((pair) => `${pair} has the same value: choose another.`),
  );
});
