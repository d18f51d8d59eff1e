import type { Rule } from './rule';
import {
  isGlobalClusterIdentifier,
  isStackId,
  isVpcCidr,
  stackIdRemedy,
  vpcCidrRemedy,
  wholeNumber,
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
  { field: 'standby.vpcCidr', accepts: isVpcCidr, remedy: vpcCidrRemedy },
  {
    field: 'standby.globalClusterIdentifier',
    accepts: isGlobalClusterIdentifier,
    remedy: 'Use 1 to 63 lowercase letters, digits and single hyphens, a letter first.',
  },
  {
    field: 'standby.instances',
    accepts: wholeNumber(0, 16),
    remedy: 'Use 0 to 16; 0 until the standby is to be promoted.',
    optional: true,
  },
];
