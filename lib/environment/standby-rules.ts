import { restoreSuffix } from './restore';
import type { Rule } from './rule';
import {
  isGlobalClusterIdentifier,
  isStackId,
  isVpcCidr,
  isZones,
  stackIdRemedy,
  vpcCidrRemedy,
  wholeNumber,
  zonesRemedy,
} from './values';

/** What an environment's standby must be like. */
export const standbyRules: readonly Rule[] = [
  { field: 'standby.stackId', accepts: isStackId, remedy: stackIdRemedy },
  {
    field: 'standby.region',
    accepts: (value, { region, residencyRegions }) =>
      value !== region && residencyRegions.some((allowed) => allowed === value),
    remedy: 'Give another of the residencyRegions than the one that serves, or leave standby out.',
  },
  {
    field: 'standby.zones',
    accepts: (value, { zones, standby }) =>
      isZones(standby?.region ?? '')(value) && (value as readonly string[]).length === zones.length,
    remedy: `${zonesRemedy} As many as the environment has.`,
  },
  { field: 'standby.vpcCidr', accepts: isVpcCidr, remedy: vpcCidrRemedy },
  {
    field: 'standby.globalClusterIdentifier',
    // The old cluster stays the primary of the old global database.
    accepts: (value, { database }) =>
      isGlobalClusterIdentifier(value) && (value as string).endsWith(restoreSuffix(database)),
    remedy: ({ database }) => {
      const suffix = restoreSuffix(database);
      const pattern = 'Use 1 to 63 lowercase letters, digits and single hyphens, a letter first';
      return suffix === ''
        ? `${pattern}.`
        : `${pattern}, and "${suffix}" at the end: the restored cluster needs a global database of its own. Then make the standby anew: docs/runbook.md#restore-to-a-moment.`;
    },
  },
  {
    field: 'standby.instances',
    accepts: wholeNumber(0, 16),
    remedy: 'Use 0 to 16; 0 until the standby is to be promoted.',
    optional: true,
  },
];
