import { createHash } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { RegionInfo } from 'aws-cdk-lib/region-info';
import { IPv4 } from 'ipaddr.js';
import * as v from 'valibot';
import { beginsWithDay } from '../../domain/time';
import { defaultLifetimeSeconds } from '../../lambda/authorize-request/variables';
import { residencyRemedy, zonesRemedy } from './messages';

const optional = v.exactOptional;
const flag = v.boolean('Write true or false.');
const where = (isValid: (value: string) => boolean, remedy: string) =>
  v.custom<string>((value) => typeof value === 'string' && isValid(value), remedy);
const text = (pattern: RegExp, remedy: string) => where((value) => pattern.test(value), remedy);
const time = (pattern: RegExp, remedy: string) =>
  where((value) => pattern.test(value) && Date.parse(value) > 0 && beginsWithDay(value), remedy);
const number = (least: number, most: number, step = 1) =>
  v.custom<number>(
    (value) => typeof value === 'number' && value >= least && value <= most && value % step === 0,
    `Use ${least} to ${most}, in steps of ${step}.`,
  );
/** Not empty, without repetitions. */
const list = <Item extends string>(isItem: (item: Item) => boolean, remedy: string) =>
  v.custom<readonly Item[]>(
    (value) =>
      Array.isArray(value) && value.length > 0 && new Set(value).size === value.length && value.every(isItem),
    remedy,
  );
const object = <Entries extends v.ObjectEntries>(entries: Entries) =>
  v.strictObject(entries, 'Compare with the fields in lib/environment/schema.ts.');

/** The CDK's regions, without those of other partitions such as China. */
const regions = RegionInfo.regions.filter(({ partition }) => partition === 'aws').map(({ name }) => name);
const isRegion = (value: string) => regions.includes(value);
const region = where(
  isRegion,
  'Give the code of an AWS region, such as eu-central-1. For a newer region, update aws-cdk-lib.',
);
const stackId = text(
  /^[A-Z][A-Za-z0-9]{2,40}$/,
  'Use a capital letter followed by 2 to 40 letters and digits.',
);
const zones = list<string>((zone) => /^[a-z0-9-]+[a-f]$/.test(zone), zonesRemedy);
/** Private (RFC 1918), of /16 to /20: the subnets are sixteenths and smaller, and EC2 has none below /28. */
const vpcCidr = where((value) => {
  const [, address = ''] = /^([\d.]+)\/(16|17|18|19|20)$/.exec(value) ?? [];
  if (!isIPv4(address)) return false;
  const isFirst = IPv4.networkAddressFromCIDR(value).toString() === address;
  return isFirst && IPv4.parse(address).range() === 'private';
}, 'Use a private block of /16 to /20 that begins at its first address, such as 10.10.0.0/16.');
/** https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html; ours and AWS's are reserved. */
const tags = v.pipe(
  v.record(
    text(
      /^(?!aws:|(service|environment|service-level-agreement|deprecated|test-funds-only)$)[\p{L}\p{N} _.:/=+@-]{1,128}$/iu,
      'Use 1 to 128 letters, digits, spaces and _.:/=+-@ that do not begin with aws: and are no name of our own tags.',
    ),
    text(/^[\p{L}\p{N} _.:/=+@-]{0,256}$/u, 'Use at most 256 letters, digits, spaces and _.:/=+-@.'),
  ),
  v.check((all) => Object.keys(all).length <= 40, 'Give at most 40: a resource has 50.'),
);
const rdsName = text(
  /^(?=.{1,63}$)[a-z](-?[a-z0-9])*$/,
  'Use 1 to 63 of a-z, 0-9 and -, starting with a letter.',
);
const day = time(/^\d{4}-\d{2}-\d{2}$/, 'Give the day as YYYY-MM-DD.');
const isLabel = (label: string) => /^\d{4}-(0[1-9]|1[0-2])[a-z]?$/.test(label);
const labels = list<string>(
  isLabel,
  'List the months of the keys, each once, such as 2026-11 or 2026-11b; the first one signs.',
);
const domainName = text(
  /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/,
  'Give a domain name in lowercase, without a trailing dot.',
);
/** https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html */
const retentions = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

const ipv4 = where(isIPv4, 'Give the IPv4 address of an Elastic IP, such as 203.0.113.7.');
/** An existing Elastic IP, such as one retained by a deleted stack. */
const adoptedElasticIp = object({
  allocationId: text(/^eipalloc-[0-9a-f]{8,17}$/, 'Give the allocation id of the Elastic IP, eipalloc-….'),
  address: ipv4,
});

const keyArn = text(
  /^arn:aws:kms:[a-z0-9-]+:\d{12}:key\/mrk-[0-9a-f]{32}$/,
  'Give the ARN of a multi-Region key as "wallet outputs" prints it, arn:aws:kms:…:key/mrk-….',
);
const keysByLabel = v.record(where(isLabel, 'Name a label of signingKeyLabels.'), keyArn);
/** Keys that several regions have: one per label of a purpose, and the one that derives the webhooks' secrets. */
const sharedKeys = object({
  webhookSecrets: optional(keyArn),
  accessToken: optional(keysByLabel),
  userAction: optional(keysByLabel),
});
const certificateArn = text(
  /^arn:[a-z-]+:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
  'Give the ARN of an ACM certificate.',
);

/** A second region with a replica of the data. It serves no requests until it is promoted. */
const standby = object({
  /** A promotion: this stack serves, and the row is read as `promoted` gives it. Take it back only as the runbook says. @default false */
  serves: optional(flag),
  /** The CloudFormation stack's name. Never change it. */
  stackId,
  /** One of the environment's `residencyRegions`, but not its `region`. */
  region,
  /** As many zones as the environment has. */
  zones,
  vpcCidr,
  /** The Aurora Global Database of both clusters. Never change it, except for a restore: docs/runbook/emergencies.md#restore-to-a-point-in-time. */
  globalClusterIdentifier: rdsName,
  /** Database instances. The replica needs none; promotion needs one, or as many as serve. @default 0 */
  instances: optional(number(0, 16)),
  /** As `domainNames.certificateArn`, in the standby's region. @default - the row has no domain names */
  certificateArn: optional(certificateArn),

  // Facts that AWS made, as at the end of a row.
  /** The primaries of the keys to replicate, recorded after the serving stack's deployment. @default - a promotion changes every key */
  keys: optional(sharedKeys),
  /** Existing multi-Region keys of the standby's region, to refer to instead of replicating: a region holds one of each. */
  adoptedKeys: optional(sharedKeys),
  /** The webhook origin after a promotion, allocated in advance; receivers allow it as a reserve. @default - a promotion allocates one */
  adoptedElasticIp: optional(adoptedElasticIp),
});

/**
 * Point-in-time restore: where the data comes from. A change replaces the cluster and retains the old one
 * (docs/runbook/emergencies.md#restore-to-a-point-in-time). Never remove it: CloudFormation would replace the cluster with an empty one.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-rds-dbcluster.html
 */
const restoreFrom = object({
  /** Instead of cluster and time. Names of automated snapshots begin with `rds:`. */
  snapshot: optional(
    text(
      /^arn:aws:rds:[a-z0-9-]+:\d{12}:cluster-snapshot:(rds:)?[a-z](-?[a-z0-9])*$/,
      "Give the ARN of a cluster snapshot in the row's region.",
    ),
  ),
  /** Identifier of the cluster whose backups are used, usually the one to replace. */
  cluster: optional(rdsName),
  /** May be in the future: templates must not depend on the date of synthesis. `preflight` checks it with RDS. */
  time: optional(time(/^\d{4}-\d\d-\d\dT(?!24)\d\d:\d\d:\d\dZ$/, 'Give it in UTC as 2026-11-21T10:30:00Z.')),
});

const database = object({
  /**
   * Aurora capacity units (about 2 GiB each). Minimum 0 lets the cluster pause, 2 turns on insights, which show the statements behind a
   * load. AWS recommends 8 for the primary of a global database, at four times the cost: raise it if replication lags under load.
   * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-serverless-v2.setting-capacity.html
   * https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_ServerlessV2ScalingConfiguration.html
   */
  capacity: object({ minimum: number(0, 256, 0.5), maximum: number(1, 256, 0.5) }),
  /** Minutes without a connection before a cluster with minimum 0 pauses. */
  pauseAfterMinutes: optional(number(5, 1440)),
  /** Failover replicas in the region; the first is in a different zone from the writer. */
  readers: number(0, 15),
  /** https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/Aurora.Managing.Backups.html */
  backupRetentionDays: number(1, 35),
  deletionProtection: flag,
  restoreFrom: optional(restoreFrom),

  // A fact that AWS made, as at the end of a row.
  /** Promoted standby: the global database in which it was a replica. Without it, the cluster would leave the global database. */
  replicaOf: optional(rdsName),
});

const domainNames = object({
  api: domainName,
  dashboard: domainName,
  /** ACM certificate for both names, in the row's region. */
  certificateArn,
});

/**
 * All differences between environments. Constructs branch on these properties and never on a name, so that an environment is
 * added or changed by editing `environments.ts`: docs/deploying.md.
 */
export const schema = object({
  /** The environment's name on the command line and in its cluster's name. Never change it. */
  name: text(
    /^[a-z][a-z0-9-]{0,20}$/,
    'Use 1 to 21 lowercase letters, digits and hyphens, starting with a letter.',
  ),
  /** The CloudFormation stack's name. Never change it: that would create a second stack. */
  stackId,
  /** The environment's name for people: on the dashboard and in the stack's description. */
  title: text(
    /^.{1,40}$/,
    'Name the environment for people in 1 to 40 characters, such as "Europe, production".',
  ),
  region,
  /** The AWS regions in which data may be stored or processed, including `region`. The first one has the account stack: keep it first. */
  residencyRegions: list(isRegion, residencyRemedy),
  /**
   * Availability zones of the network; the parameter `WebhookOriginZone` is an index into them, from 1. Never reorder or change
   * deployed zones: CloudFormation would create subnets with overlapping ranges, which EC2 rejects.
   */
  zones,
  /** Never change it: CloudFormation would replace the network. */
  vpcCidr,
  chains: list<'mainnet' | 'testnet'>(
    (chain) => ['mainnet', 'testnet'].includes(chain),
    'List mainnet, testnet or both.',
  ),
  /** Shown on the dashboard: a mail address or an https URL, and where docs/receivers.md is published. */
  support: object({
    contact: text(/^([^@\s]+@[^@\s]+\.[^@\s]+|https:\/\/\S+)$/, 'Give a mail address or an https URL.'),
    guide: text(/^https:\/\/\S+$/, 'Give the https URL under which docs/receivers.md is published.'),
  }),
  serviceLevelAgreement: flag,
  /** Share of deletions and of webhooks that succeed: alarms on the API follow from it, docs/decisions/alarms.md. */
  objective: optional(
    object({
      availability: v.custom<number>(
        (value) => typeof value === 'number' && value >= 0.95 && value <= 0.9999,
        'Use 0.95 to 0.9999, such as 0.999.',
      ),
    }),
  ),
  /** Part of the terms of use; nothing enforces it. */
  testFundsOnly: flag,
  /** Days, UTC. On `sunset`, once it is decided, the environment is switched off. @default - not deprecated */
  deprecation: optional(object({ since: day, sunset: optional(day) })),
  databaseAccess: v.picklist(['data-api', 'direct'], 'Use direct where the region has no RDS Data API.'),
  database,
  /** Receives alarms after confirming the subscription. Alarms contain no customer data. @default - no subscription to the topic `AlarmTopicArn` */
  alarmEmail: optional(text(/^[^\s@]{1,64}@[^\s@]+\.[^\s@.]+$/, 'Give one e-mail address.')),
  logRetentionDays: v.picklist(retentions, `Use one of CloudWatch's retentions: ${retentions.join(', ')}.`),
  /**
   * Token bucket of the stage, within the account's quota in newer regions.
   * https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html
   */
  throttle: object({
    requestsPerSecond: number(1, 2500),
    burst: number(1, 1250),
    /** Requests from one address in five minutes, to API and dashboard, after which the firewall blocks it. @default 2,000: 6.7 a second */
    requestsPerAddress: optional(number(10, 750_000)),
  }),
  /** The `iss` of tokens, different in each environment. A change invalidates every token issued before. */
  tokenIssuer: where(
    (value) => /^https:\/\/\S+[^/]$/.test(value) && URL.canParse(value),
    'Give an https URL without a trailing slash.',
  ),
  /** Labels of the KMS keys, by month. The first signs, all verify: docs/runbook/planned-work.md#rotating-a-signing-key. */
  signingKeyLabels: object({ accessToken: labels, userAction: labels }),
  /**
   * Whether the keys can have replicas in other `residencyRegions`: docs/decisions/standby.md. Required with a standby. Never change it:
   * KMS cannot. @default false
   */
  multiRegionKeys: optional(flag),
  /** Maximum accepted time from `iat` to `exp` of an access token. @default 1440, a day */
  accessTokenMinutes: optional(number(5, 10_080)),
  /** Custom domain names. @default - API Gateway's addresses */
  domainNames: optional(domainNames),
  /** A second Elastic IP, published from the start, used in an emergency only: docs/runbook/emergencies.md#a-zone-is-gone. @default - none */
  webhookOrigin: optional(object({ reserve: flag, adoptedReserve: optional(adoptedElasticIp) })),
  /** On every resource and stack, beside our own: for costs and owners. @default - none */
  tags: optional(tags),
  /** Suits trials: deleting the stack deletes everything, the Elastic IP too. No access logs. @default false */
  disposable: optional(flag),
  standby: optional(standby),
  /**
   * Daily backups of the cluster, in a vault that nobody can empty until each is this many days old. They exist with a service level
   * agreement, and only then. Nothing ends their cost early: docs/reference.md#cost.
   * A change begins a second vault beside the first. @default 35 days
   */
  airGappedBackups: optional(object({ retentionDays: number(7, 365) })),

  // Facts that AWS made, copied from `wallet outputs` and from AWS's answers. Append to them. Never change or remove one, except as
  // docs/runbook says: CloudFormation would delete a replica or change an address that receivers allow.
  /** The stack's webhook origin address, for a promotion: it stays published as a reserve. @default - that of `adoptedElasticIp` */
  originAddress: optional(ipv4),
  /** @default - the stack creates the Elastic IP */
  adoptedElasticIp: optional(adoptedElasticIp),
  /** Promoted standby: its `keys`. @default - each key is a new primary */
  keyReplicas: optional(sharedKeys),
  /** Promoted standby: its `adoptedKeys`. */
  adoptedKeys: optional(sharedKeys),
  /** Promoted standby: the address of the former region, published as a reserve, for the return. */
  formerAddress: optional(ipv4),
});

/** A row as it is read: `inForce`. */
export type Environment = v.InferOutput<typeof schema> & {
  /** The stack that served before a promotion by `standby.serves`. No app has it; roles, guardrails and evidence cover it. */
  readonly former?: Pick<TableStack, 'stackId' | 'region'>;
};
export type Standby = v.InferOutput<typeof standby>;
export type DomainNames = v.InferOutput<typeof domainNames>;
export type AdoptedElasticIp = v.InferOutput<typeof adoptedElasticIp>;
export type Deprecation = NonNullable<Environment['deprecation']>;
export type SharedKeys = v.InferOutput<typeof sharedKeys>;
export type RestoreSource = v.InferOutput<typeof restoreFrom>;

/** Maximum seconds from an access token's `iat` to its `exp`. */
export const accessTokenLifetime = ({ accessTokenMinutes }: Environment): number =>
  accessTokenMinutes === undefined ? defaultLifetimeSeconds : accessTokenMinutes * 60;

/**
 * Limits the environment's own receiver to a quarter of the row's, so that strangers' requests leave most functions to deletions.
 * `preflight` wants both bursts.
 */
export const checkThrottle = ({ throttle }: Environment): Environment['throttle'] => ({
  requestsPerSecond: throttle.requestsPerSecond / 4,
  burst: Math.ceil(throttle.burst / 4),
});

/** How many days air-gapped backups are kept. Undefined without them. */
export const airGappedRetentionDays = (row: Environment): number | undefined =>
  row.serviceLevelAgreement ? (row.airGappedBackups?.retentionDays ?? 35) : undefined;

/**
 * Where the role of AWS Backup is, in its ARN before the name that CloudFormation makes: the guardrails except it. A name of ours would
 * need `CAPABILITY_NAMED_IAM` for every update of the stack, a move of the webhook origin included.
 */
export const backupRolePath = ({ stackId }: Pick<Environment, 'stackId'>): string =>
  `/${stackId}/AirGappedBackups/`;

/** `-` and eight characters of the data's source, or empty: CloudFormation cannot replace a resource that keeps its name. */
export function restoreSuffix({ restoreFrom }: Pick<Environment['database'], 'restoreFrom'>): string {
  if (restoreFrom === undefined) return '';
  const { snapshot, cluster, time } = restoreFrom;
  const hash = createHash('sha256').update(JSON.stringify([snapshot, cluster, time]));
  return `-${hash.digest('hex').slice(0, 8)}`;
}

/** A key of which a row may record an ARN: its entry in `SharedKeys`, and its logical id, which never changes. */
export interface SharedKey {
  readonly purpose: keyof SharedKeys;
  /** Empty for the webhooks' secrets. */
  readonly label: string;
  readonly logicalId: string;
}

/** The keys of a serving stack that a promotion keeps, the one that signs first of its purpose. */
export function sharedKeysOf({
  signingKeyLabels,
}: Pick<Environment, 'signingKeyLabels'>): readonly [SharedKey, ...SharedKey[]] {
  const signing = (purpose: 'accessToken' | 'userAction', prefix: string) =>
    signingKeyLabels[purpose].map((label) => {
      const logicalId = `${prefix}SigningKey${label.replace('-', '')}`;
      return { purpose, label, logicalId };
    });
  return [
    { purpose: 'webhookSecrets', label: '', logicalId: 'WebhookSecretsKey' },
    ...signing('accessToken', 'AccessToken'),
    ...signing('userAction', 'UserAction'),
  ];
}

export function recordedArn(
  keys: SharedKeys | undefined,
  { purpose, label }: Pick<SharedKey, 'purpose' | 'label'>,
): string | undefined {
  const found = keys?.[purpose];
  return typeof found === 'object' ? found[label] : found;
}

/**
 * The row after a promotion of its standby: docs/runbook/emergencies.md#promoting-the-standby. What belongs to the former region
 * stays there. The data comes from the replica, also after a restore.
 */
export function promoted(row: Environment & { readonly standby: Standby }): Environment {
  const { keys, certificateArn, globalClusterIdentifier: replicaOf, instances, serves, ...own } = row.standby;
  const { standby, originAddress, adoptedElasticIp, keyReplicas, adoptedKeys, ...others } = row;
  const { domainNames, webhookOrigin, ...former } = others;
  const { restoreFrom, ...database } = row.database;
  const formerAddress = originAddress ?? adoptedElasticIp?.address;
  return {
    ...former,
    ...own,
    ...(keys && { keyReplicas: keys }),
    ...(webhookOrigin && { webhookOrigin: { reserve: webhookOrigin.reserve } }),
    ...(domainNames && certificateArn && { domainNames: { ...domainNames, certificateArn } }),
    ...(formerAddress && { formerAddress }),
    database: { ...database, replicaOf },
  };
}

/** The row as everything reads it: promoted, if its standby serves. */
export function inForce(row: Environment): Environment {
  const { standby, stackId, region } = row;
  return standby?.serves ? { ...promoted({ ...row, standby }), former: { stackId, region } } : row;
}

/** A stack of the table, deployed or not. */
export interface TableStack {
  readonly environment: Environment;
  readonly stackId: string;
  readonly region: string;
}

/** The stacks of an environment that its app has, the serving one first. */
export function stacksOf(environment: Environment): readonly TableStack[] {
  return [environment, environment.standby].flatMap((each) =>
    each ? [{ environment, stackId: each.stackId, region: each.region }] : [],
  );
}

/** First the stack that served before a promotion, which still has keys, an address, data and messages; then those of the app. */
export const coveredStacksOf = (environment: Environment): readonly TableStack[] => [
  ...(environment.former ? [{ environment, ...environment.former }] : []),
  ...stacksOf(environment),
];
