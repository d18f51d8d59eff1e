import type { AssembledStack } from '../../../domain/assembly';
import type { Environment } from '../../../lib/environments';
import type { StackResource } from '../../shell/deployed-stack';

export interface Finding {
  /** `warning`: the deployment may work, and may be the fix. `not checked`: the call to AWS failed. */
  readonly outcome: 'ok' | 'warning' | 'failed' | 'not checked';
  readonly found: string;
  readonly remedy?: string;
}

export interface Context {
  readonly environment: Environment;
  readonly account: string;
  readonly stack: Pick<AssembledStack, 'name' | 'region' | 'template'>;
  readonly zones: readonly string[];
  readonly deployed: Promise<Deployed | undefined>;
  /** The environment's serving stack, which may be the stack itself. */
  readonly deployedServing: Promise<Deployed | undefined>;
}

export interface Deployed {
  readonly status: string;
  readonly outputs: Readonly<Record<string, string | undefined>>;
  readonly resources: readonly StackResource[];
}

/** Read-only. A string is short for a finding with outcome `ok`. */
export interface Check {
  readonly id: string;
  /** Whether it also fails a deployment of the environment's other stack. @default false */
  readonly isForBoth?: boolean;
  run(context: Context): Promise<string | Finding>;
}

export const failed = (found: string, remedy: string): Finding => ({ outcome: 'failed', found, remedy });
export const warning = (found: string, remedy: string): Finding => ({ outcome: 'warning', found, remedy });

export const planned = ({ template }: Context['stack'], type: string) =>
  Object.values(template.Resources).flatMap(({ Type, Properties = {} }) =>
    Type === type ? [Properties] : [],
  );

export const existing = async ({ deployed }: Context, type: string): Promise<readonly string[]> =>
  ((await deployed)?.resources ?? []).flatMap((each) => (each.type === type ? [each.physicalId] : []));

/** Whether the stack has a replica and does not serve. */
export const standsBy = ({ environment: { standby }, stack }: Context): boolean =>
  stack.name === standby?.stackId;
