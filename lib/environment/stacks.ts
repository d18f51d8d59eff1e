import type { Environment } from './environment';

/** A stack of the table, deployed or not. */
export interface TableStack {
  readonly environment: Environment;
  readonly stackId: string;
  readonly region: string;
}

/** The stacks of an environment, the one that serves first. */
export function stacksOf(environment: Environment): readonly TableStack[] {
  return [environment, environment.standby].flatMap((each) =>
    each ? [{ environment, stackId: each.stackId, region: each.region }] : [],
  );
}
