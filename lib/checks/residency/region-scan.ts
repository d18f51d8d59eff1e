import type { LocatedValue } from './located-values';
import { arnRegionsIn, regionsIn } from './region-names';
import { isObject, type Template } from './template';
import { intrinsicOf, possibleTexts } from './text';

export interface NamedRegion {
  readonly location: string;
  /** The text that names it. */
  readonly text: string;
  /** Code of a region, `*`, or a parameter's placeholder. */
  readonly region: string;
}

/** Prose and labels: nothing is sent to a region because a description or a tag mentions it. A variable may be both. */
const isProse = (name: string, location: string) =>
  /description$|^tags$/i.test(name) && !location.endsWith('.Variables');

/** The regions that a value names, at any depth, without those that are allowed. */
export function* regionsNamed(
  { location, value }: LocatedValue,
  allowed: readonly string[],
  template: Template,
): Generator<NamedRegion> {
  if (typeof value === 'string' || intrinsicOf(value) !== undefined) {
    for (const text of possibleTexts(value, template)) {
      for (const region of regionsOutside(text, allowed)) yield { location, text, region };
    }
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield* regionsNamed({ location: `${location}.${index}`, value: item }, allowed, template);
    }
  } else if (isObject(value) && !isDenial(value)) {
    for (const [name, item] of Object.entries(value)) {
      if (isProse(name, location)) continue;
      const place = { location: `${location}.${name}`, value: item };
      for (const region of regionsOutside(name, allowed)) yield { ...place, text: name, region };
      yield* regionsNamed(place, allowed, template);
    }
  }
}

/** A policy statement that denies may name any region. */
function isDenial({ Effect: effect }: { readonly Effect?: unknown }): boolean {
  return effect === 'Deny';
}

function regionsOutside(text: string, allowed: readonly string[]): readonly string[] {
  const named = [...regionsIn(text), ...arnRegionsIn(text).filter(isDecidedElsewhere)];
  return [...new Set(named)].filter((region) => !allowed.includes(region));
}

/** Not a value of the template itself, which is in the stack's region, but anything that may be another one. */
function isDecidedElsewhere(region: string): boolean {
  return !region.includes('‹') || region.includes('‹parameter ');
}
