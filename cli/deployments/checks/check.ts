import type { Environment } from '../../../lib/environments';
import type { StackResource } from '../../shell/deployed-stack';
import type { AssembledStack } from '../assembly';

export interface Finding {
  /** `warning`: the deployment may work, and may be the fix. `not checked`: the call to AWS failed. */
  readonly outcome: 'ok' | 'warning' | 'failed' | 'not checked';
  readonly found: string;
  readonly remedy?: string;
}

export interface Context {
  readonly environment: Environment;
  readonly account: string;
  readonly stack: AssembledStack;
  readonly zones: readonly string[];
  readonly deployed: Promise<
    { readonly status: string; readonly resources: readonly StackResource[] } | undefined
  >;
}

/** Read-only. A string is short for a finding with outcome `ok`. */
export interface Check {
  readonly id: string;
  run(context: Context): Promise<string | Finding>;
}

export const failed = (found: string, remedy: string): Finding => ({ outcome: 'failed', found, remedy });
export const warning = (found: string, remedy: string): Finding => ({ outcome: 'warning', found, remedy });

export const planned = ({ template }: AssembledStack, type: string) =>
  Object.values(template.Resources).flatMap(({ Type, Properties = {} }) =>
    Type === type ? [Properties] : [],
  );

export const existing = async ({ deployed }: Context, type: string): Promise<readonly string[]> =>
  ((await deployed)?.resources ?? []).flatMap((each) => (each.type === type ? [each.physicalId] : []));
