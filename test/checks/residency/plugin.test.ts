import { Stack, Validations } from 'aws-cdk-lib';
import { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
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
const acknowledged = 'unreviewed[Properties.Layers]';
const unreviewed = { id: `Residency::${acknowledged}`, reason };
const layerIn = (place: string) => `arn:aws:lambda:${place}:111122223333:layer:telemetry:7`;

/** Synthesizes a stack of a function with a layer, and its acknowledgements, in a region. @returns the template's metadata */
const synthesizeLayer = (acknowledge: (layered: CfnFunction) => void, place = 'eu-west-1') =>
  withApp((app) => {
    const boundary = {
      stackId: 'Test',
      region: 'eu-west-1',
      residencyRegions: ['eu-west-1'],
      natGateways: 0,
    } as const;
    const stack = new Stack(app, 'Test', { env: { region: boundary.region } });
    const scope = new Construct(stack, 'Function');
    acknowledge(new CfnFunction(scope, 'Resource', { code: {}, role: 'role', layers: [layerIn(place)] }));
    recordAcknowledgements(stack);
    Validations.of(app).addPlugins(new ResidencyPlugin([boundary]));
    return app.synth().getStackByName('Test').template.Metadata;
  });

it('accepts a finding that is acknowledged at its resource, and writes the reason into the template', () => {
  const metadata = synthesizeLayer((layered) => Validations.of(layered).acknowledge(unreviewed));
  expect(metadata.ResidencyAcknowledgements).toEqual({ Function76856677: { [acknowledged]: reason } });
});

it.each<[what: string, finding: RegExp, acknowledge: (layered: CfnFunction) => void, place?: string]>([
  ['without an acknowledgement', /Layers(.|\n)*Rule Residency::unreviewed/, () => {}],
  [
    'acknowledged without a reason',
    /Rule Residency::acknowledgement/,
    (layered) => Validations.of(layered).acknowledge({ ...unreviewed, reason: ' ' }),
  ],
  [
    'acknowledged, of a function with another finding',
    /Rule Residency::unreviewed\[Properties\.ReservedConcurrentExecutions\]/,
    (layered) => {
      layered.reservedConcurrentExecutions = 1;
      Validations.of(layered).acknowledge(unreviewed);
    },
  ],
  [
    'from another region, acknowledged',
    /Rule Residency::foreign-region/,
    (layered) => Validations.of(layered).acknowledge(unreviewed, { id: 'Residency::foreign-region', reason }),
    'us-east-1',
  ],
])('refuses a layer %s', (...[, finding, acknowledge, place]) => {
  expect(() => synthesizeLayer(acknowledge, place)).toThrow(finding);
});

it.each(['app', 'stack', 'function', 'other'] as const)('refuses a layer acknowledged at the %s', (at) => {
  const acknowledge = (layered: CfnFunction) => {
    const stack = Stack.of(layered);
    const other = new CfnFunction(stack, 'Other', { code: {}, role: 'role' });
    const scopes = { app: stack.node.root, stack, function: layered.node.scope as Construct, other };
    Validations.of(scopes[at]).acknowledge(unreviewed);
  };
  const both = /(?=.*Rule Residency::unreviewed).*Rule Residency::acknowledgement/s;
  expect(() => synthesizeLayer(acknowledge)).toThrow(both);
});

it.each([
  [
    'without a location',
    ['unreviewed'],
    /unreviewed\[Properties\.Layers\].*Rule Residency::acknowledgement/s,
  ],
  ['of nothing', [acknowledged, 'unreviewed[Type]'], /Rule Residency::acknowledgement/],
])('refuses an acknowledgement %s', (_, rules, finding) => {
  const ids = rules.map((rule) => ({ id: `Residency::${rule}`, reason }));
  expect(() => synthesizeLayer((layered) => Validations.of(layered).acknowledge(...ids))).toThrow(finding);
});

it('gives a stack of one’s own the regions of its row', () => {
  withApp((app) => {
    const stack = new Stack(app, 'Reports', { env: { region: withStandby.region } });
    const { residencyRegions, region } = withStandby;
    const boundary = { stackId: 'Reports', region, residencyRegions, natGateways: 0 };
    expect(boundaryBeside(withStandby, stack)).toEqual(boundary);
  });
});
