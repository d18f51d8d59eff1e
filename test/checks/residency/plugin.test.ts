import { App, Stack, Validations } from 'aws-cdk-lib';
import { Key } from 'aws-cdk-lib/aws-kms';
import { createApp } from '../../../lib/app';
import { boundariesOf, ResidencyPlugin } from '../../../lib/checks/residency/plugin';
import type { ResidencyBoundary } from '../../../lib/checks/residency/template';
import { first, newcomer } from '../../support/rows';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();

it("binds a standby to its environment's regions, without a gateway, and no row to global types", () => {
  const standby = {
    stackId: 'Standby',
    region: 'ap-southeast-2',
    zones: ['ap-southeast-2a', 'ap-southeast-2b', 'ap-southeast-2c'],
    vpcCidr: '10.99.0.0/16',
    globalClusterIdentifier: 'all',
  };
  const { region, residencyRegions } = newcomer;
  expect(boundariesOf([{ ...newcomer, standby }])).toEqual([
    { stackId: newcomer.stackId, region, residencyRegions, natGateways: 1, elasticIps: 1 },
    { stackId: 'Standby', region: 'ap-southeast-2', residencyRegions, natGateways: 0 },
  ]);
});

it('fails the synthesis of the app, with rule, construct, value and remedy', () => {
  const app = createApp({ outdir: folder(), environments: [first], validateTemplates: false });
  new Key(app.node.findChild(first.stackId), 'Everywhere', { multiRegion: true });
  expect(() => app.synth()).toThrow(
    /MultiRegion is true(.|\n)*\/Everywhere\/Resource(.|\n)*fix: Find out how(.|\n)*Rule Residency::unreviewed/,
  );
});

describe('a stack', () => {
  const boundary: ResidencyBoundary = {
    stackId: 'Test',
    region: 'me-central-1',
    residencyRegions: ['me-central-1'],
    natGateways: 0,
  };
  const synthesize = (build: (app: App) => void) => () => {
    const app = new App({
      outdir: folder(),
      analyticsReporting: false,
      builtinCloudFormationValidation: false,
    });
    build(app);
    Validations.of(app).addPlugins(new ResidencyPlugin([boundary]));
    app.synth();
  };

  it.each([
    ['in another region than its row says', 'Test', { env: { region: 'us-east-1' } }],
    ['beside the table', 'Edge', { env: { region: 'me-central-1' } }],
    ['for any region', 'Test', {}],
  ])('%s is refused', (_, stackId, props) => {
    const build = (app: App) => new Stack(app, stackId, props);
    expect(synthesize(build)).toThrow(/Region is "(.|\n)*Residency::unlisted-stack/);
  });

  it('is refused despite an acknowledgement', () => {
    const build = (app: App) => {
      const key = new Key(new Stack(app, 'Test', { env: { region: boundary.region } }), 'Key', {
        multiRegion: true,
      });
      for (const scope of [app, key]) {
        Validations.of(scope).acknowledge({ id: 'Residency::unreviewed', reason: 'It is convenient' });
      }
    };
    expect(synthesize(build)).toThrow(/Residency::unreviewed/);
  });
});
