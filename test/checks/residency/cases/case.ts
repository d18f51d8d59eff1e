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

/**
 * A stack of one resource that is refused for one of its properties.
 *
 * @param at the property's location. @default - that of the only value
 */
export function refusedProperty(
  type: string,
  properties: object,
  at = onlyLocation(properties),
  boundary = oneRegion,
): Hostile {
  const value = at
    .split('.')
    .reduce(
      (parent, name) => (typeof parent === 'string' ? JSON.parse(parent) : parent)?.[name],
      properties as Json,
    );
  return {
    build: only(type, properties),
    boundary,
    path: 'Test/It',
    refusal: `Properties.${at} is ${JSON.stringify(value) ?? 'left out'}`,
  };
}

// biome-ignore lint/suspicious/noExplicitAny: properties are as free as a template's JSON
type Json = any;

function onlyLocation(value: Json): string {
  const [name, ...others] = typeof value === 'object' ? Object.keys(value) : [];
  return name === undefined || others.length > 0 ? '' : join(name, onlyLocation(value[name]));
}

const join = (...names: string[]) => names.filter((name) => name !== '').join('.');

/** A stack of one resource that is refused for its type. */
export const refusedType = (type: string, properties: object = {}, boundary = oneRegion): Hostile => ({
  build: only(type, properties),
  boundary,
  path: 'Test/It',
  refusal: `Type is "${type}"`,
});
