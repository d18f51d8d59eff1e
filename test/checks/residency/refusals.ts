import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, CfnResource, Stack, Validations } from 'aws-cdk-lib';
import type { ResidencyBoundary } from '../../../lib/checks/residency/boundary';
import { ResidencyPlugin } from '../../../lib/checks/residency/plugin';
import { withTemporaryFolder } from '../../support/stacks';

/** An environment with the one region, and a stack without a gateway. */
export const oneRegion: ResidencyBoundary = {
  stackId: 'Test',
  region: 'me-central-1',
  residencyRegions: ['me-central-1'],
  natGateways: 0,
};

/** An environment with two regions, in the first of them. */
export const twoRegions: ResidencyBoundary = {
  ...oneRegion,
  region: 'eu-central-1',
  residencyRegions: ['eu-central-1', 'eu-west-1'],
};

/** A finding as a deployer sees it. */
export interface Refusal {
  readonly rule: string;
  /** Path of the construct. */
  readonly path: string;
  /** Says where and what. */
  readonly description: string;
  readonly remedy: string;
}

/** What synthesis refuses about a stack. */
export function refusalsOf(
  build: (stack: Stack) => unknown,
  boundary: ResidencyBoundary = oneRegion,
): readonly Refusal[] {
  return withTemporaryFolder((outdir) => {
    const app = new App({ outdir, analyticsReporting: false, builtinCloudFormationValidation: false });
    build(
      new Stack(app, boundary.stackId, { env: { region: boundary.region }, crossRegionReferences: true }),
    );
    Validations.of(app).addPlugins(new ResidencyPlugin([boundary]));
    let failure: unknown;
    try {
      app.synth();
    } catch (error) {
      failure = error;
    }
    const file = join(outdir, 'validation-report.json');
    const refusals = existsSync(file) ? readReport(file) : [];
    if ((failure === undefined) !== (refusals.length === 0))
      throw failure ?? new Error('It was not refused.');
    return refusals;
  });
}

interface Report {
  readonly pluginReports: readonly {
    readonly pluginName: string;
    readonly violations: readonly {
      readonly ruleName: string;
      readonly description: string;
      readonly suggestedFix: string;
      readonly violatingConstructs: readonly { readonly constructPath: string }[];
    }[];
  }[];
}

function readReport(file: string): readonly Refusal[] {
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
  return report.pluginReports
    .filter(({ pluginName }) => pluginName === 'Residency')
    .flatMap(({ violations }) => violations)
    .map(({ ruleName, description, suggestedFix, violatingConstructs }) => ({
      rule: ruleName,
      path: violatingConstructs[0]?.constructPath ?? '',
      description,
      remedy: suggestedFix,
    }));
}

/** Builds a stack of one resource, `Test/It`. */
export const only = (type: string, properties: object) => (stack: Stack) => {
  new CfnResource(stack, 'It', { type, properties: { ...properties } });
};
