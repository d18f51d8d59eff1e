import { propertiesOf, rootOf, valuesAt } from './located-values';
import { regionsNamed } from './region-scan';
import { type Finding, findingAt, findingOf, type Rule } from './rule';
import type { Resource, Template } from './template';
import { possibleTexts } from './text';

/** Whether a value is allowed; `undefined` is a property that is left out. */
export type Accepts = (value: unknown, template: Template) => boolean;

export interface PropertyCheck {
  /** Type of the resource. */
  readonly type: string;
  /** Path within its properties, `*` being each item of a list. */
  readonly path: string;
  readonly accepts: Accepts;
}

export interface NameCheck {
  /** Names of properties, wherever they stand: in any resource, at any depth, in JSON texts. */
  readonly named: RegExp;
  readonly accepts: Accepts;
}

export interface PropertyRuleProps extends Omit<Rule, 'find'> {
  /** Types of resources that are refused whatever their properties. @default - none */
  readonly types?: readonly RegExp[];
  readonly checks?: readonly (PropertyCheck | NameCheck)[];
}

/** A rule about types of resources and values of their properties. */
export function propertyRule({ types = [], checks = [], ...rule }: PropertyRuleProps): Rule {
  const byPath = checks.filter((check): check is PropertyCheck => 'path' in check);
  const byName = checks.filter((check): check is NameCheck => 'named' in check);
  return {
    ...rule,
    *find(template) {
      for (const resource of template.resources) {
        if (types.some((type) => type.test(resource.type))) yield findingOf(resource);
        yield* findByPath(resource, byPath, template);
        if (byName.length > 0) yield* findByName(resource, byName, template);
      }
    },
  };
}

function* findByPath(
  resource: Resource,
  checks: readonly PropertyCheck[],
  template: Template,
): Generator<Finding> {
  for (const { path, accepts } of checks.filter(({ type }) => type === resource.type)) {
    for (const place of valuesAt(rootOf(resource), path)) {
      if (!accepts(place.value, template)) yield findingAt(resource, place);
    }
  }
}

function* findByName(
  resource: Resource,
  checks: readonly NameCheck[],
  template: Template,
): Generator<Finding> {
  for (const place of propertiesOf(resource, template)) {
    if (checks.some(({ named, accepts }) => named.test(place.name) && !accepts(place.value, template))) {
      yield findingAt(resource, place);
    }
  }
}

export const isAbsent: Accepts = (value) => value === undefined;

/** Left out or switched off, where leaving out means off. */
export const isOff: Accepts = (value) =>
  value === undefined ||
  ['false', 'disable', 'disabled', 'none', '0', ''].includes(String(value).toLowerCase()) ||
  (Array.isArray(value) && value.length === 0);

export const isFalse: Accepts = (value) => String(value) === 'false';

export const isTrue: Accepts = (value) => String(value) === 'true';

/** Left out, or one of these texts on every branch. */
export const isOneOf =
  (...allowed: readonly string[]): Accepts =>
  (value, template) =>
    value !== undefined && possibleTexts(value, template).every((text) => allowed.includes(text));

export const isAbsentOr =
  (accepts: Accepts): Accepts =>
  (value, template) =>
    value === undefined || accepts(value, template);

export const isOwnRegion: Accepts = (value, template) => isOneOf(template.boundary.region)(value, template);

/** Names no region but the stack's own, and no ARN whose region is known only when the stack is deployed. */
export const staysInRegion: Accepts = (value, template) =>
  regionsNamed({ location: '', value }, [template.boundary.region], template).next().done === true;
