import { type IPolicyValidationContext, Validations } from 'aws-cdk-lib';
import { Key } from 'aws-cdk-lib/aws-kms';
import { createApp } from '../../../lib/app';
import { boundariesOf, ResidencyPlugin } from '../../../lib/checks/residency/plugin';
import { first, withStandby } from '../../support/rows';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();

it("binds a standby to its environment's regions, without a gateway, and no row to global types", () => {
  const { stackId, region, residencyRegions, standby } = withStandby;
  expect(boundariesOf([{ ...withStandby, webhookOrigin: { reserve: true } }])).toEqual([
    { stackId, region, residencyRegions, disposable: false, natGateways: 1, elasticIps: 2 },
    { stackId: standby.stackId, region: standby.region, residencyRegions, natGateways: 0 },
  ]);
});

it('fails the synthesis of the app despite an acknowledgement, with rule, construct, value and remedy', () => {
  const app = createApp({ outdir: folder(), environments: [first], validateTemplates: false });
  const key = new Key(app.node.findChild(first.stackId), 'Everywhere', { multiRegion: true });
  for (const scope of [app, key]) {
    Validations.of(scope).acknowledge({ id: 'Residency::unreviewed', reason: 'It is convenient' });
  }
  expect(() => app.synth()).toThrow(
    /MultiRegion is true(.|\n)*\/Everywhere\/Resource(.|\n)*fix: Find out how(.|\n)*Rule Residency::unreviewed/,
  );
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
