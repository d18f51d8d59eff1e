import { isObject, type Resource, type Template } from './template';
import { intrinsicOf, textsOf } from './text';

/** A value in a template and where it stands, such as `Properties.Tags.0.Value`. */
export interface Place {
  readonly location: string;
  readonly value: unknown;
}

export interface NamedPlace extends Place {
  /** Name of the property, at any depth. */
  readonly name: string;
}

/** Both branches of a condition, or the value itself. A branch without a value is `undefined`. */
function branchesOf({ location, value }: Place): readonly Place[] {
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
export function placesAt(start: Place, path: string): readonly Place[] {
  return path
    .split('.')
    .reduce<readonly Place[]>(
      (places, step) => places.flatMap((place) => branchesOf(place).flatMap((branch) => enter(branch, step))),
      [start],
    )
    .flatMap(branchesOf);
}

function enter({ location, value }: Place, step: string): readonly Place[] {
  if (step !== '*') {
    return [{ location: `${location}.${step}`, value: isObject(value) ? value[step] : undefined }];
  }
  // CloudFormation takes a single value where a list is asked for.
  const items = value === undefined ? [] : [value].flat();
  return items.map((item, index) => ({ location: `${location}.${index}`, value: item }));
}

const propertiesByResource = new WeakMap<Resource, readonly NamedPlace[]>();

/** Every property of a resource, at any depth and in JSON texts too: custom resources have their calls in them. */
export function propertiesOf(resource: Resource, template: Template): readonly NamedPlace[] {
  const known = propertiesByResource.get(resource);
  if (known !== undefined) return known;
  const found = [...propertiesWithin(startOf(resource), template)];
  propertiesByResource.set(resource, found);
  return found;
}

/** A resource's properties as one value. */
export const startOf = ({ properties }: Resource): Place => ({ location: 'Properties', value: properties });

function* propertiesWithin({ location, value }: Place, template: Template): Generator<NamedPlace> {
  const content = contentOf(value, template);
  if (Array.isArray(content)) {
    for (const [index, item] of content.entries()) {
      yield* propertiesWithin({ location: `${location}.${index}`, value: item }, template);
    }
  } else if (isObject(content)) {
    const isProperties = intrinsicOf(content) === undefined;
    for (const [name, item] of Object.entries(content)) {
      const place = { location: `${location}.${name}`, value: item };
      if (isProperties) {
        for (const branch of branchesOf(place)) yield { ...branch, name };
      }
      yield* propertiesWithin(place, template);
    }
  }
}

/** What a JSON text says; any other value as it is. */
function contentOf(value: unknown, template: Template): unknown {
  const intrinsic = intrinsicOf(value);
  const isText = typeof value === 'string' || intrinsic?.name === 'Fn::Join' || intrinsic?.name === 'Fn::Sub';
  if (!isText) return value;
  const documents = textsOf(value, template).flatMap((text) => {
    if (!/^\s*[[{]/.test(text)) return [];
    try {
      return [JSON.parse(text) as unknown];
    } catch {
      return [];
    }
  });
  return documents.length > 1 ? documents : (documents[0] ?? value);
}

/** Logical ids of what a value refers to. */
export function* referencesIn(value: unknown): Generator<string> {
  if (Array.isArray(value)) {
    for (const item of value) yield* referencesIn(item);
    return;
  }
  const intrinsic = intrinsicOf(value);
  if (intrinsic?.name === 'Ref') {
    yield String(intrinsic.argument);
  } else if (intrinsic?.name === 'Fn::GetAtt') {
    yield String([intrinsic.argument].flat()[0]).split('.')[0] ?? '';
  } else if (intrinsic?.name === 'Fn::Sub') {
    const [pattern, variables] = [intrinsic.argument].flat();
    for (const [, name = ''] of String(pattern).matchAll(/\$\{([^}!.]+)[^}]*\}/g)) yield name;
    yield* referencesIn(variables);
  } else if (isObject(value)) {
    yield* referencesIn(Object.values(value));
  }
}

/** Calls of the named intrinsic functions within a value; one may stand beside other keys of its object. */
export function* callsWithin({ location, value }: Place, names: readonly string[]): Generator<Place> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield* callsWithin({ location: `${location}.${index}`, value: item }, names);
    }
  } else if (isObject(value)) {
    for (const [name, item] of Object.entries(value)) {
      const place = { location: `${location}.${name}`, value: item };
      if (names.includes(name)) yield place;
      else yield* callsWithin(place, names);
    }
  }
}
