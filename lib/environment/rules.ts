import * as v from 'valibot';
import { InvalidEnvironment, type InvalidField, residencyRemedy, zonesRemedy } from './messages';
import {
  type Environment,
  recordedArn,
  restoreSuffix,
  type SharedKeys,
  schema,
  sharedKeysOf,
} from './schema';

const areZonesOf = (names: readonly string[], ofRegion: string) =>
  [2, 3].includes(names.length) && names.every((zone) => zone.slice(0, -1) === ofRegion);
const regionIn = (arn = '') => arn.split(':')[3];
/** Keys for a stack are recorded, each once, in its region if it adopts them, otherwise in another one of the environment. */
function areRecorded(keys: SharedKeys | undefined, isRight: (ofKey: string) => boolean): boolean {
  const { webhookSecrets, accessToken, userAction } = keys ?? {};
  const labelled = [accessToken, userAction].flatMap((each) => Object.values(each ?? {}));
  const arns = [webhookSecrets, ...labelled].filter((arn) => arn !== undefined);
  return new Set(arns).size === arns.length && arns.every((arn) => isRight(regionIn(arn) ?? ''));
}
const wrongPrimaries = (keys: SharedKeys | undefined, ofStack = '', regions?: readonly string[]) =>
  !areRecorded(keys, (region) => region !== ofStack && regions?.includes(region) !== false) &&
  'Give the ARNs of the primaries, each once, in the other residencyRegions.';
const requiredFor = ({ serviceLevelAgreement }: Partial<Environment>, value: string) =>
  serviceLevelAgreement && `A service level agreement requires ${value}.`;

/** Constraints between the fields of a row: the field to report, and its remedy if broken. Invalid fields are absent. */
const relations: Record<string, (row: Partial<Environment>) => string | false | undefined> = {
  residencyRegions: ({ residencyRegions, region }) =>
    region && residencyRegions?.includes(region) === false && residencyRemedy,
  zones: ({ zones, region }) => region && zones && !areZonesOf(zones, region) && zonesRemedy,
  'deprecation.sunset': ({ deprecation }) =>
    deprecation?.sunset && deprecation.sunset <= deprecation.since && 'Give a day after since.',
  'database.capacity.maximum': ({ database }) =>
    database && database.capacity.maximum < database.capacity.minimum && 'Use at least the minimum.',
  'database.capacity.minimum': ({ database, serviceLevelAgreement, standby }) =>
    database?.capacity.minimum === 0 &&
    (serviceLevelAgreement || standby !== undefined) &&
    'Use at least 0.5: with a service level agreement or a standby, a cluster must not pause.',
  'database.pauseAfterMinutes': ({ database }) =>
    database &&
    (database.capacity.minimum === 0) !== (database.pauseAfterMinutes !== undefined) &&
    'Set it if the minimum capacity is 0, and only then.',
  'database.readers': (row) => row.database?.readers === 0 && requiredFor(row, 'at least 1'),
  'database.backupRetentionDays': (row) =>
    row.database && row.database.backupRetentionDays < 35 && requiredFor(row, '35'),
  'database.deletionProtection': (row) =>
    row.database?.deletionProtection === false && requiredFor(row, 'true'),
  disposable: (row) => row.disposable && requiredFor(row, 'false'),
  'database.replicaOf': ({ database: { replicaOf, restoreFrom } = {}, standby }) =>
    replicaOf &&
    (restoreFrom !== undefined || replicaOf === standby?.globalClusterIdentifier) &&
    'Give the former global database; no standby may have the same one, and restoreFrom must be absent.',
  'database.restoreFrom': ({ database: { restoreFrom } = {}, region }) => {
    if (!restoreFrom || !region) return false;
    const { snapshot, cluster, time } = restoreFrom;
    const isRight = snapshot ? !cluster && !time && regionIn(snapshot) === region : cluster && time;
    return !isRight && "Give either a snapshot in the row's region, or both cluster and time.";
  },
  alarmEmail: ({ alarmEmail, serviceLevelAgreement }) =>
    alarmEmail &&
    serviceLevelAgreement === false &&
    'Remove it: without a service level agreement there are no alarms.',
  airGappedBackups: ({ airGappedBackups, serviceLevelAgreement }) =>
    airGappedBackups &&
    serviceLevelAgreement === false &&
    'Remove it: without a service level agreement there are none.',
  objective: ({ objective, serviceLevelAgreement }) =>
    serviceLevelAgreement !== undefined &&
    serviceLevelAgreement !== (objective !== undefined) &&
    (serviceLevelAgreement
      ? 'A service level agreement requires one, such as { availability: 0.999 }.'
      : 'Remove it: without a service level agreement nothing measures it.'),
  'throttle.burst': ({ throttle }) =>
    throttle && throttle.burst < throttle.requestsPerSecond && 'Use at least throttle.requestsPerSecond.',
  'domainNames.certificateArn': ({ domainNames, region }) =>
    region &&
    domainNames &&
    regionIn(domainNames.certificateArn) !== region &&
    "Give a certificate in the row's region.",
  'webhookOrigin.reserve': ({ webhookOrigin }) =>
    webhookOrigin?.adoptedReserve && !webhookOrigin.reserve && 'Set it to true: there is an adoptedReserve.',
  multiRegionKeys: ({ multiRegionKeys, residencyRegions, standby, ...row }) => {
    if (multiRegionKeys)
      return (
        residencyRegions?.length === 1 &&
        'Remove it: nothing may be replicated from the one residency region.'
      );
    if (row.keyReplicas ?? row.adoptedKeys ?? standby?.keys ?? standby?.adoptedKeys)
      return 'Set it to true, or record no keys: single-Region keys have no replicas.';
    return (
      standby &&
      multiRegionKeys === undefined &&
      'Write true before the first deployment, so that a promotion changes no key; false for a stack that was deployed without. KMS cannot change it later.'
    );
  },
  originAddress: ({ originAddress, adoptedElasticIp }) =>
    originAddress &&
    adoptedElasticIp &&
    originAddress !== adoptedElasticIp.address &&
    'Give the address of adoptedElasticIp, or remove it.',
  keyReplicas: ({ keyReplicas, region, residencyRegions }) =>
    wrongPrimaries(keyReplicas, region, residencyRegions),
  adoptedKeys: ({ adoptedKeys, region }) =>
    region &&
    !areRecorded(adoptedKeys, (keyRegion) => keyRegion === region) &&
    "Give the ARNs of existing keys, each once, in the row's region.",
  'standby.adoptedKeys': ({ standby }) =>
    standby &&
    !areRecorded(standby.adoptedKeys, (keyRegion) => keyRegion === standby.region) &&
    "Give the ARNs of existing keys, each once, in the standby's region.",
  'standby.certificateArn': ({ standby, domainNames }) =>
    standby &&
    (domainNames ?? standby.certificateArn) &&
    regionIn(standby.certificateArn) !== standby.region &&
    "Give a certificate in the standby's region.",
  'standby.keys': ({ standby, residencyRegions, signingKeyLabels }) => {
    const { keys, adoptedKeys, region } = standby ?? {};
    const wrong = wrongPrimaries(keys, region, residencyRegions);
    if (wrong || !signingKeyLabels || (keys ?? adoptedKeys) === undefined) return wrong;
    const all = sharedKeysOf({ signingKeyLabels });
    const missing = all.filter(
      (key) =>
        all.find(({ purpose }) => purpose === key.purpose) === key &&
        (recordedArn(keys, key) ?? recordedArn(adoptedKeys, key)) === undefined,
    );
    const names = missing.map(({ purpose, label }) => [purpose, label].filter(Boolean).join(' '));
    return (
      names.length > 0 &&
      `Record ${names.join(', ')} first: docs/runbook/planned-work.md#rotating-a-signing-key.`
    );
  },
  'standby.region': ({ standby, region, residencyRegions }) =>
    standby &&
    (standby.region === region || residencyRegions?.includes(standby.region) === false) &&
    'Use one of the residencyRegions other than the serving region.',
  'standby.zones': ({ standby, zones }) =>
    standby &&
    zones &&
    !(areZonesOf(standby.zones, standby.region) && standby.zones.length === zones.length) &&
    `${zonesRemedy} Use as many as the environment has.`,
  // The old cluster stays the primary of the old global database.
  'standby.globalClusterIdentifier': ({ standby, database }) =>
    database &&
    standby?.globalClusterIdentifier.endsWith(restoreSuffix(database)) === false &&
    (standby.serves
      ? `Undo the change of database.restoreFrom: it belongs to the stack that served before. To restore the one that serves, first write the promotion permanently, docs/deploying.md#change-an-environment.`
      : `Append "${restoreSuffix(database)}": the restored cluster needs a new standby, docs/runbook/emergencies.md#restore-to-a-point-in-time.`),
};

/** No two of these have the same value, in one row or in two. */
const uniqueFields = [
  'name',
  'stackId',
  'standby.stackId',
  'vpcCidr',
  'standby.vpcCidr',
  'standby.globalClusterIdentifier',
  'tokenIssuer',
  'domainNames.api',
  'domainNames.dashboard',
  'originAddress',
  'adoptedElasticIp.allocationId',
  'standby.adoptedElasticIp.allocationId',
  'webhookOrigin.adoptedReserve.allocationId',
];

/** Checks each row, then what must differ between rows. @throws InvalidEnvironment with every wrong field */
export function validateEnvironments(table: unknown): readonly Environment[] {
  if (!Array.isArray(table) || table.length === 0) {
    const remedy = 'Give a list with at least one environment.';
    throw new InvalidEnvironment([{ field: 'environments', value: table, remedy }]);
  }
  const wrong = table.flatMap(wrongFieldsOf);
  const found = wrong.length > 0 ? wrong : repetitionsIn(table);
  if (found.length > 0) throw new InvalidEnvironment(found);
  return table;
}

function wrongFieldsOf(row: Environment, index: number): readonly InvalidField[] {
  const { issues = [] } = v.safeParse(schema, row);
  const remedies = issues.map((issue) => [v.getDotPath(issue) ?? '', issue.message] as const);
  const wrong = new Set(remedies.map(([path]) => path.split('.')[0]));
  const others = Object.fromEntries(Object.entries(row ?? {}).filter(([name]) => !wrong.has(name)));
  const broken = Object.entries(relations).map(([path, remedyFor]) => [path, remedyFor(others)] as const);
  const label = row?.name || `environments[${index}]`;
  return [...remedies, ...broken.filter(([path]) => !wrong.has(path))].flatMap(([path, remedy]) =>
    remedy ? [{ field: path ? `${label}.${path}` : label, value: valueAt(row, path), remedy }] : [],
  );
}

function repetitionsIn(rows: readonly Environment[]): readonly InvalidField[] {
  const owners = new Map<unknown, string>();
  return rows.flatMap((row) =>
    uniqueFields.flatMap((path) => {
      const field = `${row.name}.${path}`;
      const value = valueAt(row, path);
      const owner = owners.get(value);
      if (value === undefined) return [];
      owners.set(value, owner ?? field);
      return owner === undefined
        ? []
        : [{ field, value, remedy: `${owner} has the same value: choose another.` }];
    }),
  );
}

const valueAt = (row: unknown, path: string): unknown =>
  path === ''
    ? row
    : path.split('.').reduce((value, key) => (value as Record<string, unknown> | undefined)?.[key], row);
