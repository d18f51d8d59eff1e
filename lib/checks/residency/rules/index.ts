import type { Rule } from '../rule';
import { crossRegionCopy } from './cross-region-copy';
import { crossStackReference } from './cross-stack-reference';
import { dashboardContent } from './dashboard-content';
import { edgeService } from './edge-service';
import { egressPath } from './egress-path';
import { eventTarget } from './event-target';
import { foreignRegion } from './foreign-region';
import { globalDatabase } from './global-database';
import { ipv6 } from './ipv6';
import { openSecurityGroup } from './open-security-group';
import { elasticIpRetained, natCount } from './origin-address';
import { publicAddress } from './public-address';
import { publicBucket } from './public-bucket';
import { publicEndpoint } from './public-endpoint';
import { publicPolicy } from './public-policy';
import { publicSubnet } from './public-subnet';
import { unreadableTemplate } from './readable-template';
import { notRegionalEndpoint } from './regional-endpoint';
import { bucketReplication, globalTable, multiRegionKey, multiRegionStore, secretReplica } from './replicas';
import { unknownType } from './unknown-type';

/** Every rule about templates. */
export const templateRules: readonly Rule[] = [
  unreadableTemplate,
  foreignRegion,
  notRegionalEndpoint,
  edgeService,
  multiRegionKey,
  secretReplica,
  bucketReplication,
  globalTable,
  globalDatabase,
  multiRegionStore,
  crossRegionCopy,
  crossStackReference,
  dashboardContent,
  eventTarget,
  egressPath,
  natCount,
  elasticIpRetained,
  publicAddress,
  publicSubnet,
  publicEndpoint,
  publicBucket,
  publicPolicy,
  openSecurityGroup,
  ipv6,
  unknownType,
];
