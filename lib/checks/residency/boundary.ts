import type { Environment } from '../../environment/environment';

/** What one stack must keep to, so that an environment's data stays in its regions. */
export interface ResidencyBoundary {
  /** The stack's path in the app; its name, for a stack that stands directly under the app. */
  readonly stackId: string;
  /** The AWS region that the stack is deployed to. */
  readonly region: string;
  /** All AWS regions that the environment's data may be in; contains `region`. */
  readonly residencyRegions: readonly string[];
  /** NAT gateways that the stack has: one where it serves, none where it only stands by. */
  readonly natGateways: 0 | 1;
  /** Elastic IPs that the stack may have. @default - as many as NAT gateways */
  readonly elasticIps?: 1 | 2;
  /** Types of global services that this stack may have and no other. @default - none */
  readonly globalTypes?: readonly string[];
}

/** The boundaries of the stacks that the environments' rows stand for, their standbys' among them. */
export function boundariesOf(environments: readonly Environment[]): readonly ResidencyBoundary[] {
  return environments.flatMap(({ stackId, region, residencyRegions, webhookOrigin, standby }) => [
    {
      stackId,
      region,
      residencyRegions,
      natGateways: 1,
      elasticIps: webhookOrigin?.reserve ? 2 : 1,
    } as const,
    ...(standby
      ? [{ stackId: standby.stackId, region: standby.region, residencyRegions, natGateways: 0 } as const]
      : []),
  ]);
}
