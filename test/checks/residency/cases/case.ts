import type { Stack } from 'aws-cdk-lib';
import type { ResidencyBoundary } from '../../../../lib/checks/residency/boundary';

export interface Harmless {
  readonly build: (stack: Stack) => void;
  /** @default - one region, no gateway */
  readonly boundary?: ResidencyBoundary;
}

export interface Hostile extends Harmless {
  /** Path of the construct that is refused. */
  readonly path: string;
  /** Where the value stands, in the resource or in the template. */
  readonly at: string;
  /** A part of the value as it is shown. */
  readonly value: string;
}

/** What a rule refuses and what it lets pass, by a name for it. */
export interface RuleCases {
  readonly hostile: Readonly<Record<string, Hostile>>;
  readonly harmless: Readonly<Record<string, Harmless>>;
}
