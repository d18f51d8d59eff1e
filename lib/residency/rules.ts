import type { Rule } from './rule';
import { crossRegionCopy } from './rules/cross-region-copy';
import { crossStackReference } from './rules/cross-stack-reference';
import { edgeService } from './rules/edge-service';
import { eventTarget } from './rules/event-target';
import { foreignRegion } from './rules/foreign-region';
import { globalDatabase } from './rules/global-database';
import { ipv6 } from './rules/ipv6';
import { openSecurityGroup } from './rules/open-security-group';
import { elasticIpRetained, natCount } from './rules/origin-address';
import { publicAddress } from './rules/public-address';
import { publicBucket } from './rules/public-bucket';
import { publicEndpoint } from './rules/public-endpoint';
import { publicPolicy } from './rules/public-policy';
import { publicSubnet } from './rules/public-subnet';
import { unreadableTemplate } from './rules/readable-template';
import { notRegionalEndpoint } from './rules/regional-endpoint';
import {
  bucketReplication,
  globalTable,
  multiRegionKey,
  multiRegionStore,
  secretReplica,
} from './rules/replicas';
import { unknownType } from './rules/unknown-type';
import { wayOut } from './rules/way-out';

/** Rules about what is in a template. */
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
  eventTarget,
  wayOut,
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
