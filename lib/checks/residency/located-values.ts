import { isObject, type Resource, type Template } from './template';
import { intrinsicOf, possibleTexts } from './text';

/** A value in a template and its location, such as `Properties.Tags.0.Value`. */
export interface LocatedValue {
  readonly location: string;
  readonly value: unknown;
}

export interface NamedValue extends LocatedValue {
  /** Name of the property, at any depth. */
  readonly name: string;
}

/** Both branches of a condition, or the value itself. A branch without a value is `undefined`. */
function branchesOf({ location, value }: LocatedValue): readonly LocatedValue[] {
  const intrinsic = intrinsicOf(value);
  if (intrinsic?.name === 'Ref' && intrinsic.argument === 'AWS::NoValue')
    return [{ location, value: undefined }];
  if (intrinsic?.name !== 'Fn::If' || !Array.isArray(intrinsic.argument)) return [{ location, value }];
  return intrinsic.argument
    .slice(1)
    .flatMap((branch, index) => branchesOf({ location: `${location}.Fn::If.${index + 1}`, value: branch }));
}

/**
 * The values of a property that is given by its path, `*` being each item of a list. A property that is left out is
 * `undefined`; no item of a list is no value.
 */
export function valuesAt(start: LocatedValue, path: string): readonly LocatedValue[] {
  return path
    .split('.')
    .reduce<readonly LocatedValue[]>(
      (places, step) => places.flatMap((place) => branchesOf(place).flatMap((branch) => enter(branch, step))),
      [start],
    )
    .flatMap(branchesOf);
}

function enter({ location, value }: LocatedValue, step: string): readonly LocatedValue[] {
  if (step !== '*') {
    return [{ location: `${location}.${step}`, value: isObject(value) ? value[step] : undefined }];
  }
  // CloudFormation takes a single value where a list is asked for.
  const items = value === undefined ? [] : [value].flat();
  return items.map((item, index) => ({ location: `${location}.${index}`, value: item }));
}

const propertiesByResource = new WeakMap<Resource, readonly NamedValue[]>();

/** Every property of a resource, at any depth and in JSON texts too: custom resources have their calls in them. */
export function propertiesOf(resource: Resource, template: Template): readonly NamedValue[] {
  const known = propertiesByResource.get(resource);
  if (known !== undefined) return known;
  const found: NamedValue[] = [];
  collectProperties(rootOf(resource), template, found);
  propertiesByResource.set(resource, found);
  return found;
}

/** All properties of a resource as one value. */
export const rootOf = ({ properties }: Resource): LocatedValue => ({
  location: 'Properties',
  value: properties,
});

function collectProperties({ location, value }: LocatedValue, template: Template, found: NamedValue[]): void {
  const content = contentOf(value, template);
  if (Array.isArray(content)) {
    for (const [index, item] of content.entries()) {
      collectProperties({ location: `${location}.${index}`, value: item }, template, found);
    }
  } else if (isObject(content)) {
    const isProperties = intrinsicOf(content) === undefined;
    for (const [name, item] of Object.entries(content)) {
      const place = { location: `${location}.${name}`, value: item };
      if (isProperties) found.push(...branchesOf(place).map((branch) => ({ ...branch, name })));
      collectProperties(place, template, found);
    }
  }
}

/** What a JSON text says; any other value as it is. */
function contentOf(value: unknown, template: Template): unknown {
  if (!beginsLikeJson(value)) return value;
  const documents = possibleTexts(value, template).flatMap((text) => {
    try {
      return [JSON.parse(text) as unknown];
    } catch {
      return [];
    }
  });
  return documents.length > 1 ? documents : (documents[0] ?? value);
}

/** A text that begins with a bracket, in one piece or in several. */
function beginsLikeJson(value: unknown): boolean {
  if (typeof value === 'string') return /^\s*[[{]/.test(value);
  const { name, argument } = intrinsicOf(value) ?? {};
  if (name === 'Fn::Sub') return beginsLikeJson([argument].flat()[0]);
  const pieces = name === 'Fn::Join' && Array.isArray(argument) ? argument[1] : undefined;
  return Array.isArray(pieces) && beginsLikeJson(pieces[0]);
}

/** Logical ids of what a value refers to. */
export function referencesIn(value: unknown, found: Set<string> = new Set()): ReadonlySet<string> {
  const { name, argument } = intrinsicOf(value) ?? {};
  if (name === 'Ref') {
    found.add(String(argument));
  } else if (name === 'Fn::GetAtt') {
    found.add(String([argument].flat()[0]).split('.')[0] ?? '');
  } else if (name === 'Fn::Sub') {
    const [pattern, variables] = [argument].flat();
    for (const [, variable = ''] of String(pattern).matchAll(/\$\{([^}!.]+)[^}]*\}/g)) found.add(variable);
    referencesIn(variables, found);
  } else if (typeof value === 'object' && value !== null) {
    for (const item of Object.values(value)) referencesIn(item, found);
  }
  return found;
}

/** Calls of the named intrinsic functions within a value; one may stand beside other keys of its object. */
export function* callsIn(
  { location, value }: LocatedValue,
  names: readonly string[],
): Generator<LocatedValue> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield* callsIn({ location: `${location}.${index}`, value: item }, names);
    }
  } else if (isObject(value)) {
    for (const [name, item] of Object.entries(value)) {
      const place = { location: `${location}.${name}`, value: item };
      if (names.includes(name)) yield place;
      else yield* callsIn(place, names);
    }
  }
}
