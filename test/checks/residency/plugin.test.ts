import type { IPolicyValidationContext } from 'aws-cdk-lib';
import { boundariesOf, ResidencyPlugin } from '../../../lib/checks/residency/plugin';
import { withStandby } from '../../support/rows';

it("binds a standby to its environment's regions, without a gateway, and no row to global types", () => {
  const { stackId, region, residencyRegions, standby } = withStandby;
  const both = { residencyRegions, multiRegionKeys: true };
  expect(boundariesOf([{ ...withStandby, webhookOrigin: { reserve: true } }])).toEqual([
    { stackId, region, ...both, disposable: false, natGateways: 1, elasticIps: 2 },
    { stackId: standby.stackId, region: standby.region, ...both, natGateways: 0 },
  ]);
});

it.each([
  ['in another region than its row says', 'Test', 'us-east-1'],
  ['beside the table', 'Edge', 'me-central-1'],
  ['for any region', 'Test', undefined],
])('refuses a stack %s', (_, stackConstructPath, region) => {
  const boundary = { stackId: 'Test', region: 'me-central-1', residencyRegions: [], natGateways: 0 } as const;
  const stackTemplates = [{ stackConstructPath, region, templatePath: 'unread' }];
  const context = { stackTemplates } as unknown as IPolicyValidationContext;
  const { success, violations } = new ResidencyPlugin([boundary]).validate(context);
  expect([success, violations]).toMatchObject([false, [{ ruleName: 'unlisted-stack', severity: 'fatal' }]]);
});
