import { ResidencyPlugin } from '../../../lib/checks/residency/plugin';
import type { RuleCases } from './cases/case';
import * as dashboards from './cases/dashboards';
import * as egressPaths from './cases/egress-paths';
import * as entrances from './cases/entrances';
import * as movement from './cases/movement';
import * as network from './cases/network';
import * as policies from './cases/policies';
import * as protocols from './cases/protocols';
import * as regions from './cases/regions';
import * as replicas from './cases/replicas';
import * as stacks from './cases/stacks';
import { refusalsOf } from './refusals';

const cases: Readonly<Record<string, RuleCases>> = {
  'unlisted-stack': stacks.unlistedStack,
  'unreadable-template': stacks.unreadableTemplate,
  'foreign-region': regions.foreignRegion,
  'endpoint-not-regional': entrances.notRegionalEndpoint,
  'edge-service': entrances.edgeService,
  'multi-region-key': replicas.multiRegionKey,
  'secret-replica': replicas.secretReplica,
  'bucket-replication': replicas.bucketReplication,
  'global-table': replicas.globalTable,
  'global-database': replicas.globalDatabase,
  'multi-region-store': replicas.multiRegionStore,
  'cross-region-copy': movement.crossRegionCopy,
  'cross-stack-reference': stacks.crossStackReference,
  'dashboard-content': dashboards.dashboardContent,
  'event-target-elsewhere': movement.eventTarget,
  'egress-path': egressPaths.egressPath,
  'nat-count': network.natCount,
  'elastic-ip-not-retained': network.elasticIpRetained,
  'public-address': network.publicAddress,
  'public-subnet': network.publicSubnet,
  'public-endpoint': entrances.publicEndpoint,
  'public-bucket': entrances.publicBucket,
  'public-policy': policies.publicPolicy,
  'open-security-group': protocols.openSecurityGroup,
  ipv6: protocols.ipv6,
  'unknown-type': egressPaths.unknownType,
};

it('has hostile and harmless cases for every rule', () => {
  const covered = Object.entries(cases).filter(
    ([, { hostile, harmless }]) => Object.keys(hostile).length > 0 && Object.keys(harmless).length > 0,
  );
  expect(covered.map(([rule]) => rule)).toEqual(new ResidencyPlugin([]).ruleIds);
});

describe.each(Object.keys(cases))('%s', (rule) => {
  const { hostile, harmless } = cases[rule] as RuleCases;

  it.each(Object.keys(hostile))('refuses %s', (name) => {
    const { build, boundary, path, refusal } = hostile[name] as RuleCases['hostile'][string];
    expect(refusalsOf(build, boundary)).toContainEqual({
      rule,
      path,
      description: expect.stringContaining(`: ${refusal}`),
      remedy: expect.stringMatching(/^[A-Z].+\.$/),
    });
  });

  it.each(Object.keys(harmless))('lets pass %s', (name) => {
    const { build, boundary } = harmless[name] as RuleCases['harmless'][string];
    expect(refusalsOf(build, boundary)).toEqual([]);
  });
});
