import { Stack, Validations } from 'aws-cdk-lib';
import { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct, type IConstruct } from 'constructs';
import { recordAcknowledgements } from '../../../lib/checks/residency/acknowledgements';
import { boundariesOf, boundaryBeside, ResidencyPlugin } from '../../../lib/checks/residency/plugin';
import { withStandby } from '../../support/rows';
import { withApp } from '../../support/stacks';

it("binds a standby to its environment's regions, without a gateway, and no row to global types", () => {
  const { stackId, region, residencyRegions, standby } = withStandby;
  const both = { residencyRegions, multiRegionKeys: true };
  expect(boundariesOf([{ ...withStandby, webhookOrigin: { reserve: true } }])).toEqual([
    { stackId, region, ...both, disposable: false, natGateways: 1, elasticIps: 2 },
    { stackId: standby.stackId, region: standby.region, ...both, natGateways: 0 },
  ]);
});

it.each([
  ['in another region than its row says', { stackId: 'Test', region: 'me-central-1' }],
  ['beside the table', { stackId: 'Other', region: 'us-east-1' }],
  ['outside of its row’s regions', { stackId: 'Test', region: 'us-east-1' }],
])('refuses a stack %s', (_, { stackId, region }) => {
  const boundary = { stackId, region, residencyRegions: ['me-central-1'], natGateways: 0 } as const;
  withApp((app) => {
    new Stack(app, 'Test', { env: { region: 'us-east-1' } });
    Validations.of(app).addPlugins(new ResidencyPlugin([boundary]));
    expect(() => app.synth()).toThrow(/Region is "us-east-1"(.|\n)*Rule Residency::unlisted-stack/);
  });
});

const reason = 'The security team reviewed it: SEC-1';
const reviewed = 'unreviewed[Properties.Layers]';
const acknowledge = (at: IConstruct, rules = [reviewed], because = reason) =>
  Validations.of(at).acknowledge(...rules.map((rule) => ({ id: `Residency::${rule}`, reason: because })));

const layerIn = (place: string) => `arn:aws:lambda:${place}:111122223333:layer:telemetry:7`;
/** Synthesizes a stack of a function with a layer, and its acknowledgements. @returns the template's metadata */
const synthesize = (prepare: (layered: CfnFunction) => void) =>
  withApp((app) => {
    const region = 'eu-west-1';
    const stack = new Stack(app, 'Test', { env: { region } });
    const scope = new Construct(stack, 'Function');
    const properties = { code: {}, role: 'role', layers: [layerIn(region)] };
    prepare(new CfnFunction(scope, 'Resource', properties));
    recordAcknowledgements(stack);
    const boundary = { stackId: 'Test', region, residencyRegions: [region], natGateways: 0 } as const;
    Validations.of(app).addPlugins(new ResidencyPlugin([boundary]));
    return app.synth().getStackByName('Test').template.Metadata;
  });

it('accepts a finding that is acknowledged at its resource, and writes the reason into the template', () => {
  const metadata = synthesize((layered) => acknowledge(layered));
  expect(metadata.ResidencyAcknowledgements).toEqual({ Function76856677: { [reviewed]: reason } });
});

const both = /(?=.*Rule Residency::unreviewed).*Rule Residency::acknowledgement/s;
const superfluous = /Rule Residency::acknowledgement/;
const otherIn = (stack: Stack) => new CfnFunction(stack, 'Other', { code: {}, role: 'role' });

it.each<[what: string, finding: RegExp, prepare: (layered: CfnFunction) => void]>([
  ['without an acknowledgement', /Layers(.|\n)*Rule Residency::unreviewed/, () => {}],
  ['acknowledged at the app', both, ({ node }) => acknowledge(node.root)],
  ['acknowledged at the stack', both, ({ stack }) => acknowledge(stack)],
  ['acknowledged at the construct', both, ({ node }) => acknowledge(node.scope as IConstruct)],
  ['acknowledged at another function', both, ({ stack }) => acknowledge(otherIn(stack))],
  ['acknowledged without a location', both, (layer) => acknowledge(layer, ['unreviewed'])],
  ['acknowledged without a reason', superfluous, (layer) => acknowledge(layer, [reviewed], ' ')],
  ['acknowledged as nothing', superfluous, (layer) => acknowledge(layer, [reviewed, 'unreviewed[Type]'])],
  [
    'acknowledged, of a function with another finding',
    /Rule Residency::unreviewed\[Properties\.ReservedConcurrentExecutions\]/,
    (layered) => {
      layered.reservedConcurrentExecutions = 1;
      acknowledge(layered);
    },
  ],
  [
    'from another region, acknowledged',
    /Rule Residency::foreign-region/,
    (layered) => {
      layered.layers = [layerIn('us-east-1')];
      acknowledge(layered, [reviewed, 'foreign-region']);
    },
  ],
])('refuses a layer %s', (_, finding, prepare) => {
  expect(() => synthesize(prepare)).toThrow(finding);
});

it('gives a stack of one’s own the regions of its row', () => {
  const { residencyRegions, region } = withStandby;
  const boundary = { stackId: 'Reports', region, residencyRegions, natGateways: 0 };
  expect(boundaryBeside(withStandby, { stackName: 'Reports', region } as Stack)).toEqual(boundary);
});
