import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../lib/environment/environment';

/** A stack as it would be deployed: from its template, not from a second list. */
export interface PlannedStack {
  readonly name: string;
  readonly region: string;
  /** Names of the availability zones that its network spans. */
  readonly zones: readonly string[];
  /** The version of the CDK's bootstrap stack that it asks for, and the SSM parameter that holds the account's. */
  readonly bootstrap: { readonly version: number; readonly parameter: string };
  readonly resources: readonly PlannedResource[];
}

export interface PlannedResource {
  readonly logicalId: string;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a template's JSON is as free as this
  readonly properties: any;
}

export const resourcesOf = (stack: PlannedStack, type: string): readonly PlannedResource[] =>
  stack.resources.filter((resource) => resource.type === type);

const plans = new WeakMap<Environment, Promise<readonly PlannedStack[]>>();

/** The stacks of an environment, the one that serves first. Synthesis takes seconds: once for a row. */
export function planOf(environment: Environment): Promise<readonly PlannedStack[]> {
  const plan = plans.get(environment) ?? synthesize(environment);
  plans.set(environment, plan);
  return plan;
}

async function synthesize(environment: Environment): Promise<readonly PlannedStack[]> {
  // Not above: the CDK takes a second to load, which no other command should wait for.
  const { createApp } = require('../../lib/app') as typeof import('../../lib/app');
  const outdir = await mkdtemp(join(tmpdir(), 'wallet-preflight-'));
  try {
    const { stacks } = createApp({ outdir, environments: [environment], validateTemplates: false }).synth();
    return stacks.map((stack) => ({
      name: stack.stackName,
      region: stack.environment.region,
      zones: zonesOf(environment, stack.stackName),
      bootstrap: {
        version: stack.requiresBootstrapStackVersion ?? 0,
        parameter: stack.bootstrapStackVersionSsmParameter ?? '',
      },
      resources: Object.entries<{ Type: string; Properties?: unknown }>(stack.template.Resources).map(
        ([logicalId, { Type, Properties = {} }]) => ({ logicalId, type: Type, properties: Properties }),
      ),
    }));
  } finally {
    await rm(outdir, { recursive: true, force: true });
  }
}

const zonesOf = ({ stackId, zones, standby }: Environment, stack: string): readonly string[] =>
  stack === stackId ? zones : (standby?.zones ?? []);
