import { createHash } from 'node:crypto';
import type { DatabaseSize, RestoreSource } from './environment';
import type { Rule } from './rule';
import { isMoment, matches } from './values';

/**
 * Tells a restored cluster apart from the one that it replaces: both exist at once, and CloudFormation refuses to replace a
 * resource that keeps its name.
 *
 * @returns `-` and eight characters that follow from where the data comes from; empty for a cluster that began empty
 */
export function restoreSuffix({ restoreFrom }: Pick<DatabaseSize, 'restoreFrom'>): string {
  if (restoreFrom === undefined) return '';
  const { snapshot, cluster, time } = restoreFrom as Partial<Record<SourceField, string>>;
  const hash = createHash('sha256').update(JSON.stringify([snapshot, cluster, time]));
  return `-${hash.digest('hex').slice(0, 8)}`;
}

type SourceField = RestoreSource extends infer Source
  ? Source extends unknown
    ? keyof Source
    : never
  : never;

const fieldsOf = (source: RestoreSource | undefined) =>
  (source ?? {}) as Partial<Record<SourceField, unknown>>;

/** Where a restored cluster's data may come from: a snapshot, or a cluster and a moment, of the region that serves. */
export const restoreRules: readonly Rule[] = [
  {
    // Automated snapshots have names that begin with `rds:`.
    // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/USER_Tagging.ARN.Constructing.html
    field: 'database.restoreFrom.snapshot',
    accepts: (value, { region, database }) => {
      const { cluster, time } = fieldsOf(database.restoreFrom);
      if (value === undefined) return cluster !== undefined || time !== undefined;
      return (
        matches(/^arn:aws:rds:[a-z0-9-]+:\d{12}:cluster-snapshot:(rds:)?[a-z](-?[a-z0-9])*$/)(value) &&
        (value as string).split(':')[3] === region &&
        cluster === undefined &&
        time === undefined
      );
    },
    remedy:
      'Give the ARN of a cluster snapshot in the region that serves and no cluster or time beside it, or leave it out and give both.',
  },
  {
    field: 'database.restoreFrom.cluster',
    accepts: (value, { database }) =>
      fieldsOf(database.restoreFrom).snapshot !== undefined
        ? value === undefined
        : matches(/^(?=.{1,63}$)[a-z](-?[a-z0-9])*$/)(value),
    remedy:
      'Give the identifier (no ARN) of a cluster in the account and the region that serves, as in the output DatabaseClusterArn; leave it out with a snapshot.',
  },
  {
    // A moment that is yet to come is not refused here: what is synthesized does not depend on the day. `preflight` asks RDS.
    field: 'database.restoreFrom.time',
    accepts: (value, { database }) =>
      fieldsOf(database.restoreFrom).snapshot !== undefined ? value === undefined : isMoment(value),
    remedy:
      'Give the moment in UTC as 2026-11-21T10:30:00Z, within the backups of the cluster; leave it out with a snapshot.',
  },
];
