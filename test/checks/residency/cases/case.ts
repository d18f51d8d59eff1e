import type { Stack } from 'aws-cdk-lib';
import type { ResidencyBoundary } from '../../../../lib/checks/residency/boundary';
import { oneRegion, only } from '../refusals';

export interface Harmless {
  readonly build: (stack: Stack) => unknown;
  /** @default - one region, no gateway */
  readonly boundary?: ResidencyBoundary;
}

export interface Hostile extends Harmless {
  /** Path of the construct that is refused. */
  readonly path: string;
  /** Location and value as they are shown, or how that begins. */
  readonly refusal: string;
}

/** What a rule refuses and what it lets pass, by a name for it. */
export interface RuleCases {
  readonly hostile: Readonly<Record<string, Hostile>>;
  readonly harmless: Readonly<Record<string, Harmless>>;
}

/** A stack of one resource that is refused for one of its properties. */
export const refusedProperty = (
  type: string,
  properties: object,
  refusal: string,
  boundary = oneRegion,
): Hostile => ({
  build: only(type, properties),
  boundary,
  path: 'Test/It',
  refusal: `Properties.${refusal}`,
});

/** A stack of one resource that is refused for its type. */
export const refusedType = (type: string, properties: object = {}, boundary = oneRegion): Hostile => ({
  build: only(type, properties),
  boundary,
  path: 'Test/It',
  refusal: `Type is "${type}"`,
});
