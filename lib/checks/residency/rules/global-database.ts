import { findingAt, findingOf, type Rule } from '../rule';

const globalCluster = /^AWS::(RDS|DocDB|Neptune)::GlobalCluster$/;
const memberCluster = /^AWS::(RDS|DocDB|Neptune)::DBCluster$/;

/**
 * A cluster over several regions in an environment of one region. With several regions, each member is in its own
 * stack, whose region is checked, and the primary's ARN is checked like any other.
 */
export const globalDatabase: Rule = {
  id: 'global-database',
  refuses: 'A global database, in an environment whose data stays in one region',
  remedy: 'Use a cluster of the one region; its copies are in the other zones.',
  *find({ boundary, resources }) {
    if (boundary.residencyRegions.length > 1) return;
    for (const resource of resources) {
      const membership = resource.properties.GlobalClusterIdentifier;
      if (globalCluster.test(resource.type)) yield findingOf(resource);
      if (memberCluster.test(resource.type) && membership !== undefined) {
        yield findingAt(resource, { location: 'Properties.GlobalClusterIdentifier', value: membership });
      }
    }
  },
};
