import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { App, CfnParameter, CfnResource, Stack, Validations } from 'aws-cdk-lib';
import { Key } from 'aws-cdk-lib/aws-kms';
import { createApp } from '../../../lib/app';
import { boundariesOf } from '../../../lib/checks/residency/boundary';
import { ResidencyPlugin } from '../../../lib/checks/residency/plugin';
import { environments } from '../../../lib/environments';
import { first, newcomer } from '../../support/rows';
import { temporaryFolder } from '../../support/temporary-folder';
import { oneRegion, only, refusalsOf } from './refusals';

const run = promisify(execFile);

const folder = temporaryFolder();

it('lets pass every stack of the table', () => {
  const assembly = createApp({ outdir: folder(), validateTemplates: false }).synth();
  expect(assembly.stacks.map(({ stackName }) => stackName)).toEqual(
    expect.arrayContaining(environments.map(({ stackId }) => stackId)),
  );
});

it("binds a standby to its environment's regions, without a gateway", () => {
  const standby = {
    stackId: 'Standby',
    region: 'ap-southeast-2',
    zones: ['ap-southeast-2a', 'ap-southeast-2b', 'ap-southeast-2c'],
    vpcCidr: '10.99.0.0/16',
    globalClusterIdentifier: 'all',
  };
  const [serving, waiting] = boundariesOf([{ ...newcomer, standby }]);
  expect(serving).toMatchObject({ region: newcomer.region, natGateways: 1 });
  expect(waiting).toEqual({
    stackId: 'Standby',
    region: 'ap-southeast-2',
    residencyRegions: serving?.residencyRegions,
    natGateways: 0,
  });
});

it('stops the synthesis of the app, and says rule, construct, value and remedy', async () => {
  const fixture = resolve(__dirname, 'fixtures/hostile-app.ts');
  const { NODE_ENV: _, ...env } = process.env;
  const synthesis = run(process.execPath, ['--import', 'tsx', fixture, folder(), first.stackId], { env });
  const failure = await synthesis.then(
    () => undefined,
    (error: { code: number; stderr: string }) => error,
  );
  expect(failure?.code).toBe(1);
  expect(failure?.stderr).toContain('Residency::multi-region-key');
  expect(failure?.stderr).toContain(`${first.stackId}/Everywhere (Everywhere)`);
  expect(failure?.stderr).toContain('Properties.MultiRegion is true');
  expect(failure?.stderr).toContain('Suggested fix: Make a key of the one region');
});

it('admits a type of a global service in the stack that is to have it, and in no other', () => {
  const type = 'AWS::IAM::OIDCProvider';
  const build = (stack: Stack) => new CfnResource(stack, 'Provider', { type });
  expect(refusalsOf(build, { ...oneRegion, globalTypes: [type] })).toEqual([]);
  expect(refusalsOf(build)).toEqual([expect.objectContaining({ rule: 'unknown-type' })]);
  expect(boundariesOf(environments).filter(({ globalTypes }) => globalTypes)).toEqual([]);
});

it('is not silenced by an acknowledgement', () => {
  const refusals = refusalsOf((stack) => {
    const key = new Key(stack, 'Key', { multiRegion: true });
    for (const scope of [stack.node.root, key]) {
      Validations.of(scope).acknowledge({ id: 'Residency::multi-region-key', reason: 'It is convenient' });
    }
  });
  expect(refusals).toEqual([expect.objectContaining({ rule: 'multi-region-key' })]);
});

it('refuses a stack that is deployed to another region than its row says', () => {
  const app = new App({
    outdir: folder(),
    analyticsReporting: false,
    builtinCloudFormationValidation: false,
  });
  new Stack(app, oneRegion.stackId, { env: { region: 'us-east-1' } });
  Validations.of(app).addPlugins(new ResidencyPlugin([oneRegion]));
  expect(() => app.synth()).toThrow(/Region is "us-east-1"(.|\n)*Residency::unlisted-stack/);
});

it('fails rather than give up on a value with too many forms', () => {
  const build = () =>
    refusalsOf((stack) => {
      const allowedValues = Array.from({ length: 11 }, (_, index) => `part-${index}`);
      const part = new CfnParameter(stack, 'Part', { allowedValues }).valueAsString;
      only('Custom::Holder', { Value: `${part}${part}${part}` })(stack);
    });
  expect(build).toThrow(/more than 1000 texts/);
});
