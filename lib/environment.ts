import { createHash } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { RegionInfo } from 'aws-cdk-lib/region-info';
import * as v from 'valibot';
import { defaultLifetimeSeconds } from '../lambda/authorize-request/environment';

// Each schema of a value has one message: what to write instead.

const text = (pattern: RegExp, remedy: string) => v.pipe(v.string(remedy), v.regex(pattern, remedy));
const yesOrNo = v.boolean('Write true or false.');
const wholeNumber = (least: number, most: number, remedy: string) =>
  v.pipe(v.number(remedy), v.integer(remedy), v.minValue(least, remedy), v.maxValue(most, remedy));
/** Aurora capacity units. https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_ServerlessV2ScalingConfiguration.html */
const capacityUnits = (least: number, remedy: string) =>
  v.pipe(v.number(remedy), v.multipleOf(0.5, remedy), v.minValue(least, remedy), v.maxValue(256, remedy));
const listOf = <Item extends v.GenericSchema<string>>(item: Item, remedy: string) =>
  v.pipe(
    v.array(item, remedy),
    v.check((items) => items.length > 0 && new Set(items).size === items.length, remedy),
    v.readonly(),
  );
/** The message of a schema, which a missing value gets as well. */
function remedyOf(schema: v.GenericSchema | undefined): string {
  const { wrapped = schema } = (schema ?? {}) as { readonly wrapped?: v.GenericSchema };
  const [issue] = wrapped ? (v.safeParse(wrapped, undefined).issues ?? []) : [];
  return issue?.message ?? 'Write an object, as in lib/environment.ts.';
}

const object = <Entries extends v.ObjectEntries>(entries: Entries) =>
  v.strictObject(entries, ({ expected }) =>
    expected === 'never'
      ? 'No such field: compare with lib/environment.ts.'
      : remedyOf(entries[(expected ?? '').slice(1, -1)] as v.GenericSchema | undefined),
  );

const domainPattern = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;
/** https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html */
const retentions = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];
/** The regions that the CDK knows; not those of China, of governments and the other partitions of their own. */
const regions = RegionInfo.regions.filter(({ partition }) => partition === 'aws').map(({ name }) => name);
export const isRegion = (value: string) => regions.includes(value);
export const regionRemedy =
  'such as eu-central-1. aws-cdk-lib lists those that there are; a newer one may need a newer version of it.';
const region = (remedy: string) => v.pipe(v.string(remedy), v.check(isRegion, remedy));
const stackId = text(
  /^[A-Z][A-Za-z0-9]{2,40}$/,
  'Use a capital letter, then letters and digits only, 41 at most.',
);
const zonesRemedy =
  'Name 2 or 3 availability zones of the region, each once, such as eu-central-1a; "aws ec2 describe-availability-zones" lists them.';
const zones = listOf(text(/^[a-z0-9-]+[a-f]$/, zonesRemedy), zonesRemedy);
/** Local Zones, which a region may have besides, have longer names. */
const areZonesOf = (names: readonly string[], of: string) =>
  [2, 3].includes(names.length) && names.every((zone) => zone.slice(0, -1) === of);
const vpcCidr = text(
  /^10\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.0\.0\/16$/,
  'Use a /16 block of 10.0.0.0/8, such as 10.10.0.0/16.',
);
/** https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-rds-globalcluster.html */
const globalClusterPattern = /^[a-z](-?[a-z0-9]){0,62}$/;
/** A day or a second that the calendar has: JavaScript takes the 30th of February for the 2nd of March. */
const time = (pattern: RegExp, remedy: string) =>
  v.pipe(
    text(pattern, remedy),
    v.check((value) => {
      const date = new Date(value);
      return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value.replace('Z', ''));
    }, remedy),
  );
const labelsRemedy =
  'List the months of the keys, such as 2026-11 or 2026-11b, each once, the one that signs first.';
const labels = listOf(text(/^\d{4}-(0[1-9]|1[0-2])[a-z]?$/, labelsRemedy), labelsRemedy);
const residencyRemedy = `List the codes of AWS regions, each once, with the row's region among them, ${regionRemedy}`;
const chainsRemedy = 'List mainnet, testnet or both, each once.';
const issuerRemedy =
  'Give an https URL without a slash at its end, such as https://eu.wallet-infrastructure.example.';
/** An Elastic IP that exists already, such as the one a deleted stack left behind. */
const adoptedElasticIp = object({
  allocationId: text(
    /^eipalloc-[0-9a-f]{8,17}$/,
    'Give the allocation id of the Elastic IP, eipalloc-…, or leave it out with the address.',
  ),
  address: v.pipe(
    v.string('Give the IPv4 address of that allocation, such as 203.0.113.7.'),
    v.check(isIPv4, 'Give the IPv4 address of that allocation, such as 203.0.113.7.'),
  ),
});

/** A second region that holds a replica of the data and serves nothing, until it is promoted. */
const standby = object({
  /** The CloudFormation stack's name. Never change it. */
  stackId,
  /** One of the environment's `residencyRegions`, not the one that serves. */
  region: region('Give another of the residencyRegions than the one that serves, or leave standby out.'),
  /** As the environment's, in this region; as many of them. */
  zones,
  vpcCidr,
  /**
   * Name of the Aurora Global Database that both clusters belong to. Never change it, but for a restore: the old cluster stays
   * the primary of the old one, and the standby is made anew.
   */
  globalClusterIdentifier: text(
    globalClusterPattern,
    'Use 1 to 63 lowercase letters, digits and single hyphens, a letter first.',
  ),
  /** Database instances. None are needed to keep the replica; promotion needs one, as many as serve at best. @default 0 */
  instances: v.exactOptional(wholeNumber(0, 16, 'Use 0 to 16; 0 until the standby is to be promoted.')),
});

const database = object({
  /**
   * In halves of Aurora capacity units (about 2 GiB of memory each). A minimum of 0 lets the cluster pause. AWS advises a
   * minimum of 8 with a standby; why 1 may do, and what 8 cost: docs/decisions/standby.md.
   */
  capacity: object({
    minimum: capacityUnits(
      0,
      'Use 0 to 256 in halves; at least 0.5 with a service level agreement or a standby: such a cluster must not pause.',
    ),
    maximum: capacityUnits(1, 'Use 1 to 256 in halves, not less than the minimum.'),
  }),
  /** Minutes without a connection before a cluster with minimum 0 pauses. @default - never pauses */
  pauseAfterMinutes: v.exactOptional(
    wholeNumber(5, 1440, 'Use 5 to 1440 with a minimum capacity of 0; leave it out otherwise.'),
  ),
  /** Readers, which take over when the writer fails; the first is in another zone than the writer. */
  readers: wholeNumber(0, 15, 'Use 0 to 15; at least 1 with a service level agreement.'),
  /** https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/Aurora.Managing.Backups.html */
  backupRetentionDays: wholeNumber(1, 35, 'Use 1 to 35 days; 35 with a service level agreement.'),
  /** Refuses deletion of the cluster and of the stack. */
  deletionProtection: v.boolean('Write true or false; true with a service level agreement.'),
  /**
   * Name of the global database as whose replica the cluster began, in a standby that has been promoted: its owner
   * and its database came with the data. Never change or remove it, for CloudFormation would take the cluster out of
   * the global database.
   *
   * @default - the cluster began empty
   */
  replicaOf: v.exactOptional(
    text(
      globalClusterPattern,
      'Give the name of the global database, not that of the standby; leave it out of a cluster that began empty or is restored.',
    ),
  ),
  /**
   * Point-in-time restore: the snapshot, or the cluster and the moment, that the cluster's data comes from. Set or changed, it
   * makes the stack replace its cluster by a new one with that data, and keep the old one:
   * docs/runbook.md#restore-to-a-moment.
   *
   * Leave it as it is afterwards, also when the snapshot or the moment is long gone: the data is not restored again. Without
   * it CloudFormation would replace the cluster by an empty one.
   * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-rds-dbcluster.html
   *
   * @default - the cluster began empty
   */
  restoreFrom: v.exactOptional(
    object({
      /** Automated snapshots have names that begin with `rds:`. */
      snapshot: v.exactOptional(
        text(
          /^arn:aws:rds:[a-z0-9-]+:\d{12}:cluster-snapshot:(rds:)?[a-z](-?[a-z0-9])*$/,
          'Give the ARN of a cluster snapshot in the region that serves.',
        ),
      ),
      /** Identifier of the cluster whose backups are used: most often the one that is to be replaced. */
      cluster: v.exactOptional(
        text(
          /^(?=.{1,63}$)[a-z](-?[a-z0-9])*$/,
          'Give the identifier (no ARN) of a cluster in the account and the region that serves, as in the output DatabaseClusterArn.',
        ),
      ),
      /**
       * What was written later is not in the new cluster. A moment that is yet to come is not refused here: what is synthesized
       * does not depend on the day. `preflight` asks RDS.
       */
      time: v.exactOptional(
        time(
          /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/,
          'Give the moment in UTC as 2026-11-21T10:30:00Z, within the backups of the cluster.',
        ),
      ),
    }),
  ),
});

const domainNames = object({
  api: text(domainPattern, 'Give a domain name in lowercase, or leave domainNames out.'),
  dashboard: text(domainPattern, 'Give a domain name in lowercase that is not the one of the API.'),
  /** The public Route 53 zone that both names are in. @default - the owner of the zone adds the records */
  hostedZone: v.exactOptional(
    object({
      id: text(
        /^Z[A-Z0-9]{1,31}$/,
        'Give the id of the Route 53 zone, such as Z0123456789ABCDEFGHIJ, or leave hostedZone out.',
      ),
      name: text(
        domainPattern,
        'Give the name of the zone that both names are in, without a dot at its end.',
      ),
    }),
  ),
  /** Of ACM, in the region that serves, for both names. @default - the stack makes one: ACM finds a record in the hosted zone */
  certificateArn: v.exactOptional(
    text(
      /^arn:[a-z-]+:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
      'Give the ARN of an ACM certificate in the region that serves; leave it out with a hosted zone only.',
    ),
  ),
});

/**
 * Everything in which one environment of the service differs from another. Constructs branch on these properties,
 * never on a name, so an environment can be changed or added by editing `environments.ts` alone: docs/deploying.md.
 */
const schema = object({
  /** What people and the command line call it. Never change it: the cluster's identifier begins with it, and would be another. */
  name: text(/^[a-z][a-z0-9-]{0,20}$/, 'Use 1 to 21 lowercase letters, digits and hyphens, a letter first.'),
  /** The CloudFormation stack's name. Never change it: that would create a second stack. */
  stackId,
  /** What the environment is for, in a few words; ends up in the stack's description. */
  purpose: text(/^.{1,100}$/, 'Say in 1 to 100 characters what the environment is for.'),
  /** The AWS region that serves. */
  region: region(`Give the code of an AWS region, ${regionRemedy}`),
  /** The AWS regions in which this environment's data may be stored or processed; contains `region`. */
  residencyRegions: listOf(region(residencyRemedy), residencyRemedy),
  /**
   * Names of the availability zones that the network spans, in the order that the parameter `WebhookOriginZone` counts.
   * Never reorder them and never change one that is deployed: its subnets would be replaced by others of the same range,
   * which CloudFormation makes first and EC2 refuses.
   *
   * A reader needs a second zone, and Aurora's storage spans three:
   * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/Concepts.AuroraHighAvailability.html
   */
  zones,
  /**
   * Never change it: CloudFormation would replace the network.
   * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-vpc.html
   */
  vpcCidr,
  chains: listOf(v.picklist(['mainnet', 'testnet'], chainsRemedy), chainsRemedy),
  /** Shown on the dashboard. */
  support: object({
    contact: text(
      /^([^@\s]+@[^@\s]+\.[^@\s]+|https:\/\/\S+)$/,
      'Give the mail address, or the https URL, that receivers of webhooks turn to.',
    ),
    guide: text(/^https:\/\/\S+$/, 'Give the https URL under which docs/receivers.md is published.'),
  }),
  serviceLevelAgreement: yesOrNo,
  /** Its users are to use test funds only. A matter of the terms of use: nothing can prevent the others. */
  testFundsOnly: yesOrNo,
  /** Absent: not deprecated. Calendar dates, UTC. */
  deprecation: v.exactOptional(
    object({
      since: time(/^\d{4}-\d{2}-\d{2}$/, 'Give the day as YYYY-MM-DD, or leave deprecation out.'),
      /** The day the environment is switched off. @default - not yet decided */
      sunset: v.exactOptional(
        time(
          /^\d{4}-\d{2}-\d{2}$/,
          'Give a day after deprecation.since as YYYY-MM-DD, or leave it out while it is not decided.',
        ),
      ),
    }),
  ),
  databaseAccess: v.picklist(
    ['data-api', 'direct'],
    'Use data-api where the region has the RDS Data API, otherwise direct.',
  ),
  database,
  /**
   * Receives alarms, with a service level agreement, after confirming it once. Alarms name metrics and
   * thresholds, never data of an organization, so the address may be anywhere.
   *
   * @default - the topic of the stack's output `AlarmTopicArn` has no subscription
   */
  alarmEmail: v.exactOptional(
    text(
      /^[^\s@]{1,64}@[^\s@]+\.[^\s@.]+$/,
      'Give one e-mail address, or leave it out; without a service level agreement there are no alarms.',
    ),
  ),
  /** Days that CloudWatch keeps log lines; one of the retentions that it offers. */
  logRetentionDays: v.picklist(retentions, `Use one of CloudWatch's retentions: ${retentions.join(', ')}.`),
  /** API Gateway's token bucket for the whole stage. */
  throttle: object({
    // The account's default quota in the newer regions is 2,500; a stage cannot have more than the account.
    // https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html
    requestsPerSecond: wholeNumber(1, 2500, 'Use 1 to 2500 requests a second.'),
    burst: wholeNumber(1, 1250, 'Use at most 1250 requests, not fewer than throttle.requestsPerSecond.'),
  }),
  /** The `iss` of this environment's tokens; differs in each, so that no token is valid in two of them. A change makes every token invalid that has been issued. */
  tokenIssuer: v.pipe(text(/^https:\/\/\S+[^/]$/, issuerRemedy), v.url(issuerRemedy)),
  /**
   * Labels of the KMS keys, each the month in which the key was added, such as `2026-11` (a letter tells apart two of
   * one month). The first signs; all verify. A rotation puts a new label first, and removes the old one when its last
   * token has expired: docs/runbook.md#rotating-a-signing-key.
   */
  signingKeyLabels: object({ accessToken: labels, userAction: labels }),
  /**
   * The longest life of an access token: minutes from its `iat` to its `exp`. A longer one is refused, whoever issued it.
   *
   * @default 1440, a day
   */
  accessTokenMinutes: v.exactOptional(
    wholeNumber(5, 10_080, 'Use 5 to 10080 minutes (a week), or leave it out for a day.'),
  ),
  /** Custom domain names of the API and the dashboard. @default - the addresses that API Gateway gives */
  domainNames: v.exactOptional(domainNames),
  /** @default - the stack makes the Elastic IP itself */
  adoptedElasticIp: v.exactOptional(adoptedElasticIp),
  /**
   * The pool of your own addresses, in the region, that the stack takes its Elastic IP from. Only for an Elastic IP
   * that is yet to be made: a change would replace it.
   * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-byoip.html
   *
   * @default - Amazon's own addresses
   */
  publicIpv4Pool: v.exactOptional(
    text(
      /^ipv4pool-ec2-[0-9a-f]{8,17}$/,
      'Give the id of the pool, ipv4pool-ec2-…, and no adoptedElasticIp beside it, or leave it out.',
    ),
  ),
  /** @default - one address, and no reserve */
  webhookOrigin: v.exactOptional(
    object({
      /**
       * A second Elastic IP, published beside the one address from the first day. It carries no traffic until
       * `wallet move-origin --reserve` puts it on a gateway in another zone because the one address cannot be taken from a
       * zone that is gone: docs/runbook.md#a-zone-is-gone. Once receivers allow it, it stays.
       */
      reserve: v.boolean('Say true, or false with no adoptedReserve beside it.'),
      /** @default - the stack makes the reserve's Elastic IP itself */
      adoptedReserve: v.exactOptional(adoptedElasticIp),
    }),
  ),
  /**
   * Deleting the stack deletes everything but the Elastic IP: data, queues, logs, and keys after a week. For trying it out.
   *
   * @default false
   */
  disposable: v.exactOptional(v.boolean('Write true or false; not true with a service level agreement.')),
  /** @default - none */
  standby: v.exactOptional(standby),
});

export type Environment = v.InferOutput<typeof schema>;
export type Standby = v.InferOutput<typeof standby>;
export type DatabaseSize = v.InferOutput<typeof database>;
export type DomainNames = v.InferOutput<typeof domainNames>;
export type AdoptedElasticIp = v.InferOutput<typeof adoptedElasticIp>;
export type Deprecation = NonNullable<Environment['deprecation']>;
export type RestoreSource = NonNullable<DatabaseSize['restoreFrom']>;

/** A field, the other top-level fields that it depends on, and what must hold. @default remedy - the field's */
type Relation = readonly [
  field: string,
  on: readonly (keyof Environment)[],
  holds: (row: Environment) => boolean,
  remedy?: (row: Environment) => string,
];

const relations: readonly Relation[] = [
  ['residencyRegions', ['region'], (row) => row.residencyRegions.includes(row.region)],
  ['zones', ['region'], (row) => areZonesOf(row.zones, row.region)],
  ['deprecation.sunset', [], ({ deprecation: { since = '', sunset = '9' } = {} }) => sunset > since],
  [
    'database.capacity.minimum',
    ['serviceLevelAgreement', 'standby'],
    (row) => row.database.capacity.minimum > 0 || !(row.serviceLevelAgreement || row.standby),
  ],
  ['database.capacity.maximum', [], ({ database: { capacity } }) => capacity.maximum >= capacity.minimum],
  [
    'database.pauseAfterMinutes',
    [],
    ({ database }) => (database.capacity.minimum === 0) === (database.pauseAfterMinutes !== undefined),
  ],
  [
    'database.readers',
    ['serviceLevelAgreement'],
    (row) => row.database.readers > 0 || !row.serviceLevelAgreement,
  ],
  [
    'database.backupRetentionDays',
    ['serviceLevelAgreement'],
    (row) => row.database.backupRetentionDays === 35 || !row.serviceLevelAgreement,
  ],
  [
    'database.deletionProtection',
    ['serviceLevelAgreement'],
    (row) => row.database.deletionProtection || !row.serviceLevelAgreement,
  ],
  [
    'database.replicaOf',
    ['standby'],
    ({ database: { replicaOf, restoreFrom }, standby }) =>
      !replicaOf || (replicaOf !== standby?.globalClusterIdentifier && !restoreFrom),
  ],
  [
    'database.restoreFrom',
    ['region'],
    ({ database: { restoreFrom }, region }) => {
      if (!restoreFrom) return true;
      const { snapshot, cluster, time } = restoreFrom;
      return snapshot ? !cluster && !time && snapshot.split(':')[3] === region : Boolean(cluster && time);
    },
    () => 'Give the snapshot, in the region that serves, or both the cluster and the time.',
  ],
  ['disposable', ['serviceLevelAgreement'], (row) => !row.disposable || !row.serviceLevelAgreement],
  ['alarmEmail', ['serviceLevelAgreement'], (row) => !row.alarmEmail || row.serviceLevelAgreement],
  ['throttle.burst', [], ({ throttle }) => throttle.burst >= throttle.requestsPerSecond],
  ['domainNames.dashboard', [], ({ domainNames: names }) => !names || names.dashboard !== names.api],
  [
    'domainNames.hostedZone.name',
    [],
    ({ domainNames: names }) =>
      !names?.hostedZone ||
      [names.api, names.dashboard].every((name) => `.${name}`.endsWith(`.${names.hostedZone?.name}`)),
  ],
  [
    'domainNames.certificateArn',
    ['region'],
    ({ domainNames: names, region }) =>
      names?.certificateArn
        ? names.certificateArn.split(':')[3] === region
        : !names || Boolean(names.hostedZone),
  ],
  ['publicIpv4Pool', ['adoptedElasticIp'], (row) => !row.publicIpv4Pool || !row.adoptedElasticIp],
  [
    'webhookOrigin.reserve',
    [],
    ({ webhookOrigin: origin }) => origin?.reserve !== false || !origin.adoptedReserve,
  ],
  [
    'standby.region',
    ['region', 'residencyRegions'],
    ({ standby, region, residencyRegions }) =>
      !standby || (standby.region !== region && residencyRegions.includes(standby.region)),
  ],
  [
    'standby.zones',
    ['zones'],
    ({ standby, zones }) =>
      !standby || (areZonesOf(standby.zones, standby.region) && standby.zones.length === zones.length),
    () => `${zonesRemedy} As many as the environment has.`,
  ],
  [
    'standby.globalClusterIdentifier',
    ['database'],
    // The old cluster stays the primary of the old global database.
    ({ standby, database }) => !standby || standby.globalClusterIdentifier.endsWith(restoreSuffix(database)),
    ({ database }) =>
      `Put "${restoreSuffix(database)}" at the end: the restored cluster needs a global database of its own. Then make the standby anew: docs/runbook.md#restore-to-a-moment.`,
  ],
];

/** Unique across rows, and within one; each list is of fields that share their values. */
const uniqueFields = [
  ['name'],
  ['stackId', 'standby.stackId'],
  ['vpcCidr', 'standby.vpcCidr'],
  ['standby.globalClusterIdentifier'],
  ['tokenIssuer'],
  ['domainNames.api', 'domainNames.dashboard'],
  ['adoptedElasticIp.allocationId', 'webhookOrigin.adoptedReserve.allocationId'],
];

/** What a deployer gave is wrong. The message says what it is and what to do, and needs no stack. */
export class InvalidInput extends Error {
  override readonly name: string = 'InvalidInput';
}

export interface InvalidField {
  /** Path of the field, such as `eu.database.capacity.minimum`. */
  readonly field: string;
  readonly value: unknown;
  readonly remedy: string;
}

/** Rows of the table of environments that cannot be deployed. The message names each wrong field, its value and the fix. */
export class InvalidEnvironment extends InvalidInput {
  override readonly name = 'InvalidEnvironment';
  constructor(readonly fields: readonly InvalidField[]) {
    const lines = fields.map(
      ({ field, value, remedy }) => `${field} is ${JSON.stringify(value) ?? 'missing'}. ${remedy}`,
    );
    super(lines.join('\n'));
  }
}

/**
 * Checks the whole table: each row by itself, and what must differ between rows.
 *
 * @throws InvalidEnvironment
 */
export function validateEnvironments(table: unknown): readonly Environment[] {
  if (!Array.isArray(table) || table.length === 0) {
    const remedy = 'Give a list with at least one environment.';
    throw new InvalidEnvironment([{ field: 'environments', value: table, remedy }]);
  }
  const wrong = table.flatMap((row, index) => {
    const { name } = (row ?? {}) as { readonly name?: unknown };
    return wrongFieldsOf(row, typeof name === 'string' && name ? name : `environments[${index}]`);
  });
  const found = wrong.length > 0 ? wrong : uniqueFields.flatMap((fields) => repetitionsOf(fields, table));
  if (found.length > 0) throw new InvalidEnvironment(found);
  return table;
}

function wrongFieldsOf(row: unknown, label: string): readonly InvalidField[] {
  const { issues = [] } = v.safeParse(schema, row, { abortPipeEarly: true });
  const wrong = issues.map((issue) => ({
    // An item of a list counts as the list.
    field: (v.getDotPath(issue) ?? '').replace(/\.\d+$/, ''),
    remedy: issue.message,
  }));
  const isRight = (field: string) => !wrong.some((each) => each.field.split('.')[0] === field);
  if (isRight('')) {
    const readable = relations.filter(([field, on]) => [field.split('.')[0] ?? '', ...on].every(isRight));
    for (const [field, , holds, remedy] of readable) {
      if (holds(row as Environment)) continue;
      wrong.push({ field, remedy: remedy?.(row as Environment) ?? remedyOf(schemaAt(field)) });
    }
  }
  return wrong.map(({ field, remedy }) => ({
    field: [label, field].filter(Boolean).join('.'),
    value: valueAt(row, field),
    remedy,
  }));
}

const schemaAt = (field: string) =>
  field.split('.').reduce<unknown>((parent, key) => {
    const { wrapped = parent } = parent as { readonly wrapped?: unknown };
    return (wrapped as { readonly entries: Record<string, unknown> }).entries[key];
  }, schema) as v.GenericSchema;

function repetitionsOf(fields: readonly string[], rows: readonly Environment[]): readonly InvalidField[] {
  const owners = new Map<unknown, string>();
  return rows.flatMap((row, index) =>
    fields.flatMap((path) => {
      // Two rows of one name are told apart by their places.
      const field = `${path === 'name' ? `environments[${index}]` : row.name}.${path}`;
      const value = valueAt(row, path);
      const owner = owners.get(value);
      if (value === undefined) return [];
      if (owner !== undefined) return [{ field, value, remedy: `${owner} is the same: choose another.` }];
      owners.set(value, field);
      return [];
    }),
  );
}

const valueAt = (row: unknown, path: string): unknown =>
  path === ''
    ? row
    : path
        .split('.')
        .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], row);

/** Seconds from an access token's `iat` to its `exp`, at most. */
export const accessTokenLifetime = ({ accessTokenMinutes }: Environment): number =>
  accessTokenMinutes === undefined ? defaultLifetimeSeconds : accessTokenMinutes * 60;

/**
 * Tells a restored cluster apart from the one that it replaces: both exist at once, and CloudFormation refuses to replace a
 * resource that keeps its name.
 *
 * @returns `-` and eight characters that follow from where the data comes from; empty for a cluster that began empty
 */
export function restoreSuffix({ restoreFrom }: Pick<DatabaseSize, 'restoreFrom'>): string {
  if (restoreFrom === undefined) return '';
  const { snapshot, cluster, time } = restoreFrom;
  const hash = createHash('sha256').update(JSON.stringify([snapshot, cluster, time]));
  return `-${hash.digest('hex').slice(0, 8)}`;
}

/** A stack of the table, deployed or not. */
export interface TableStack {
  readonly environment: Environment;
  readonly stackId: string;
  readonly region: string;
}

/** The stacks of an environment, the one that serves first. */
export function stacksOf(environment: Environment): readonly TableStack[] {
  return [environment, environment.standby].flatMap((each) =>
    each ? [{ environment, stackId: each.stackId, region: each.region }] : [],
  );
}
