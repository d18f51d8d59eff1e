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
  {
    field: 'standby.stackId',
    holds: isStackId,
    remedy: stackIdRemedy,
    parentOptional: true,
  },
  {
    field: 'standby.region',
    holds: (value, { region, residencyRegions }) =>
      value !== region && residencyRegions.some((allowed) => allowed === value),
    remedy: 'Give another of the residencyRegions than the one that serves, or leave standby out.',
    parentOptional: true,
  },
  { field: 'standby.vpcCidr', holds: isVpcCidr, remedy: vpcCidrRemedy, parentOptional: true },
  {
    field: 'standby.globalClusterIdentifier',
    holds: isGlobalClusterIdentifier,
    remedy: 'Use 1 to 63 lowercase letters, digits and single hyphens, a letter first.',
    parentOptional: true,
  },
  {
    field: 'standby.instances',
    holds: wholeNumber(0, 16),
    remedy: 'Use 0 to 16; 0 until the standby is to be promoted.',
    optional: true,
    parentOptional: true,
  },
];
