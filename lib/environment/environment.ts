import type { Support } from '../../domain/dashboard';
import { defaultLifetimeSeconds } from '../../lambda/authorize-request/environment';
import type { DatabaseAccess } from '../../lambda/database/environment';

/**
 * Everything in which one environment of the service differs from another. Constructs branch on these properties,
 * never on a name, so an environment can be changed or added by editing `environments.ts` alone: docs/environments.md.
 */
export interface Environment {
  /** What people and the command line call it. Never change it: the cluster's identifier begins with it, and would be another. */
  readonly name: string;
  /** The CloudFormation stack's name. Never change it: that would create a second stack. */
  readonly stackId: string;
  /** What the environment is for, in a few words; ends up in the stack's description. */
  readonly purpose: string;
  /** The AWS region that serves. */
  readonly region: string;
  /** The AWS regions in which this environment's data may be stored or processed; contains `region`. */
  readonly residencyRegions: readonly string[];
  /**
   * Names of the availability zones that the network spans, in the order that the parameter `WebhookOriginZone` counts.
   * Never reorder them and never change one that is deployed: its subnets would be replaced by others of the same range,
   * which CloudFormation makes first and EC2 refuses.
   */
  readonly zones: readonly string[];
  /**
   * Never change it: CloudFormation would replace the network.
   * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-vpc.html
   */
  readonly vpcCidr: string;
  readonly chains: readonly Chain[];
  /** Shown on the dashboard. */
  readonly support: Support;
  readonly serviceLevelAgreement: boolean;
  /** Its users are to use test funds only. A matter of the terms of use: nothing can prevent the others. */
  readonly testFundsOnly: boolean;
  /** Absent: not deprecated. */
  readonly deprecation?: Deprecation;
  readonly databaseAccess: DatabaseAccess;
  readonly database: DatabaseSize;
  /**
   * Receives alarms, with a service level agreement, after confirming it once. Alarms name metrics and
   * thresholds, never data of an organization, so the address may be anywhere.
   *
   * @default - the topic of the stack's output `AlarmTopicArn` has no subscription
   */
  readonly alarmEmail?: string;
  /** Days that CloudWatch keeps log lines; one of the retentions that it offers. */
  readonly logRetentionDays: number;
  readonly throttle: Throttle;
  /** The `iss` of this environment's tokens; differs in each, so that no token is valid in two of them. A change makes every token invalid that has been issued. */
  readonly tokenIssuer: string;
  readonly signingKeyLabels: SigningKeyLabels;
  /**
   * The longest life of an access token: minutes from its `iat` to its `exp`. A longer one is refused, whoever issued it.
   *
   * @default 1440, a day
   */
  readonly accessTokenMinutes?: number;
  /** @default - the addresses that API Gateway gives */
  readonly domainNames?: DomainNames;
  /** @default - the stack makes the Elastic IP itself */
  readonly adoptedElasticIp?: AdoptedElasticIp;
  /**
   * The pool of your own addresses, in the region, that the stack takes its Elastic IP from. Only for an Elastic IP
   * that is yet to be made: a change would replace it.
   * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-byoip.html
   *
   * @default - Amazon's own addresses
   */
  readonly publicIpv4Pool?: string;
  /** @default - one address, and no reserve */
  readonly webhookOrigin?: WebhookOriginSettings;
  /** The port of this environment's API on 127.0.0.1 when it runs on a developer's machine. */
  readonly localPort: number;
  /** The port of its dashboard there. */
  readonly localDashboardPort: number;
  /** A second region that holds a replica of the data and serves nothing. @default - none */
  readonly standby?: Standby;
}

/** Seconds from an access token's `iat` to its `exp`, at most. */
export const accessTokenLifetime = ({ accessTokenMinutes }: Environment) =>
  accessTokenMinutes === undefined ? defaultLifetimeSeconds : accessTokenMinutes * 60;

/** Where a replica of an environment's data waits to be promoted. */
export interface Standby {
  /** The CloudFormation stack's name. Never change it. */
  readonly stackId: string;
  /** One of the environment's `residencyRegions`, not the one that serves. */
  readonly region: string;
  /** As the environment's, in this region; as many of them. */
  readonly zones: readonly string[];
  readonly vpcCidr: string;
  /**
   * Name of the Aurora Global Database that both clusters belong to. Never change it, but for a restore: the old cluster stays
   * the primary of the old one, and the standby is made anew.
   */
  readonly globalClusterIdentifier: string;
  /**
   * Database instances. None are needed to keep the replica; promotion needs one at least, as many as serve at best.
   *
   * @default 0
   */
  readonly instances?: number;
}

export type Chain = 'mainnet' | 'testnet';

/** Dates are ISO 8601 calendar dates, UTC. */
export interface Deprecation {
  readonly since: string;
  /** The day the environment is switched off. @default - not yet decided */
  readonly sunset?: string;
}

export interface DatabaseSize {
  /**
   * Aurora capacity units (about 2 GiB of memory each), in halves. A minimum of 0 lets the cluster pause. AWS advises a
   * minimum of 8 with a standby; why 1 may do, and what 8 cost: docs/decisions/standby.md.
   */
  readonly capacity: { readonly minimum: number; readonly maximum: number };
  /** Minutes without a connection before a cluster with minimum 0 pauses. @default - never pauses */
  readonly pauseAfterMinutes?: number;
  /** Readers, which take over when the writer fails; the first is in another zone than the writer. */
  readonly readers: number;
  readonly backupRetentionDays: number;
  /** Refuses deletion of the cluster and of the stack. */
  readonly deletionProtection: boolean;
  /**
   * Name of the global database as whose replica the cluster began, in a standby that has been promoted: its owner
   * and its database came with the data. Never change or remove it, for CloudFormation would take the cluster out of
   * the global database.
   *
   * @default - the cluster began empty
   */
  readonly replicaOf?: string;
  /**
   * Point-in-time restore: where the cluster's data comes from. Set or changed, it makes the stack replace its cluster by a
   * new one with that data, and keep the old one: docs/runbook.md#restore-to-a-moment.
   *
   * Leave it as it is afterwards, also when the snapshot or the moment is long gone: the data is not restored again. Without
   * it CloudFormation would replace the cluster by an empty one.
   * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-rds-dbcluster.html
   *
   * @default - the cluster began empty
   */
  readonly restoreFrom?: RestoreSource;
}

/** Both are of the account and the region that serve. */
export type RestoreSource =
  | {
      /** ARN of a cluster snapshot. */
      readonly snapshot: string;
    }
  | {
      /** Identifier of the cluster whose backups are used: most often the one that is to be replaced. */
      readonly cluster: string;
      /** The moment, ISO 8601 in UTC to the second: `2026-11-21T10:30:00Z`. What was written later is not in the new cluster. */
      readonly time: string;
    };

/** API Gateway's token bucket for the whole stage. */
export interface Throttle {
  readonly requestsPerSecond: number;
  readonly burst: number;
}

/**
 * Labels of the KMS keys, each the month in which the key was added, such as `2026-11` (a letter tells apart two of
 * one month). The first signs; all verify. A rotation puts a new label first, and removes the old one when its last
 * token has expired: docs/runbook.md#rotating-a-signing-key.
 */
export interface SigningKeyLabels {
  readonly accessToken: readonly string[];
  readonly userAction: readonly string[];
}

/** Custom domain names of the API and the dashboard. */
export interface DomainNames {
  readonly api: string;
  readonly dashboard: string;
  /** The public Route 53 zone that both names are in. @default - the owner of the zone adds the records */
  readonly hostedZone?: HostedZone;
  /**
   * ARN of the ACM certificate, in the environment's region, that covers both names.
   *
   * @default - the stack makes one, which takes a hosted zone: ACM has to find a record there
   */
  readonly certificateArn?: string;
}

export interface HostedZone {
  readonly id: string;
  /** Without a dot at the end. */
  readonly name: string;
}

export interface WebhookOriginSettings {
  /**
   * A second Elastic IP, published beside the one address from the first day. It carries no traffic until
   * `wallet move-origin --reserve` puts it on a gateway in another zone because the one address cannot be taken from a zone
   * that is gone: docs/runbook.md#a-zone-is-gone. Once receivers allow it, it stays.
   *
   * @default false
   */
  readonly reserve: boolean;
  /** @default - the stack makes the reserve's Elastic IP itself */
  readonly adoptedReserve?: AdoptedElasticIp;
}

/** An Elastic IP that exists already, such as the one a deleted stack left behind. */
export interface AdoptedElasticIp {
  readonly allocationId: string;
  readonly address: string;
}
