import type { DatabaseAccess } from '../lambda/database/environment';

/**
 * Everything in which one environment of the service differs from another. Constructs branch on these properties,
 * never on a name, so an environment can be changed or added by editing `environments.ts` alone.
 */
export interface Environment {
  /** What people and the command line call it. */
  readonly name: string;
  /** The CloudFormation stack's name. Never change it: the stack would be made anew, beside the old one. */
  readonly stackId: string;
  /** What the environment is for, in a few words; ends up in the stack's description. */
  readonly purpose: string;
  /** The AWS region that serves. */
  readonly region: string;
  /** The AWS regions in which this environment's data may be stored or processed; contains `region`. */
  readonly residencyRegions: readonly string[];
  /** Availability zones that the network spans. */
  readonly zones: number;
  readonly vpcCidr: string;
  readonly chains: readonly Chain[];
  readonly serviceLevelAgreement: boolean;
  /** Absent: not deprecated. */
  readonly deprecation?: Deprecation;
  readonly databaseAccess: DatabaseAccess;
  readonly database: DatabaseSize;
  /** Days that CloudWatch keeps log lines; one of the retentions that it offers. */
  readonly logRetentionDays: number;
  readonly throttle: Throttle;
  /** The `iss` of this environment's tokens; differs in each, so that no token is valid in two of them. */
  readonly tokenIssuer: string;
  readonly signingKeyLabels: SigningKeyLabels;
  /** @default - the addresses that API Gateway gives */
  readonly domainNames?: DomainNames;
  /** @default - the stack makes the Elastic IP itself */
  readonly adoptedElasticIp?: AdoptedElasticIp;
  /** The port of this environment's API on 127.0.0.1 when it runs on a developer's machine. */
  readonly localPort: number;
}

export type Chain = 'mainnet' | 'testnet';

/** Dates are ISO 8601 calendar dates, UTC. */
export interface Deprecation {
  readonly since: string;
  /** The day the environment is switched off. @default - not yet decided */
  readonly sunset?: string;
}

export interface DatabaseSize {
  /** Aurora capacity units (about 2 GiB of memory each), in halves. A minimum of 0 lets the cluster pause. */
  readonly capacity: { readonly minimum: number; readonly maximum: number };
  /** Minutes without a connection before a cluster with minimum 0 pauses. @default - never pauses */
  readonly pauseAfterMinutes?: number;
  /** Readers, which take over when the writer fails; the first is in another zone than the writer. */
  readonly readers: number;
  readonly backupRetentionDays: number;
  /** Refuses deletion of the cluster and of the stack. */
  readonly deletionProtection: boolean;
}

/** API Gateway's token bucket for the whole stage. */
export interface Throttle {
  readonly requestsPerSecond: number;
  readonly burst: number;
}

/**
 * Labels of the KMS keys, each the month in which the key was added, such as `2026-11` (a letter tells apart two of
 * one month). The first signs; all verify. Rotation adds a label at the end, later moves it to the front, and
 * removes the old one when its last token has expired.
 */
export interface SigningKeyLabels {
  readonly accessToken: readonly string[];
  readonly userAction: readonly string[];
}

export interface DomainNames {
  readonly api: string;
  readonly dashboard: string;
  /** ARN of the ACM certificate, in the environment's region, that covers both names. */
  readonly certificateArn: string;
}

/** An Elastic IP that exists already, such as the one a deleted stack left behind. */
export interface AdoptedElasticIp {
  readonly allocationId: string;
  readonly address: string;
}
