import { isObject, type JsonObject, type LocatedValue, objectAt, type Template } from './template';

/** Texts that one value can become; more of them than this are not read, and the check fails. */
const mostAlternatives = 1000;

/** Name and argument of an intrinsic function, if the value is one. */
export function intrinsicOf(
  value: unknown,
): { readonly name: string; readonly argument: unknown } | undefined {
  if (!isObject(value)) return undefined;
  const [name, ...others] = Object.keys(value);
  if (name === undefined || others.length > 0) return undefined;
  return name === 'Ref' || name.startsWith('Fn::') ? { name, argument: value[name] } : undefined;
}

/**
 * The texts that a value can become, with what is known only to CloudFormation as a placeholder in ‹›. An ARN in
 * pieces is whole here: pieces are joined, variables filled in, and each branch of a condition and each
 * allowed value of a parameter is a separate text.
 *
 * @throws when there are more than 1,000
 */
export function possibleTexts(value: unknown, template: Template): readonly string[] {
  if (!isObject(value) && !Array.isArray(value)) return [String(value ?? '')];
  const intrinsic = intrinsicOf(value);
  if (intrinsic === undefined) return [placeholder(Object.values(value), template)];
  const { name, argument } = intrinsic;
  const items = [argument].flat();
  switch (name) {
    case 'Ref':
      return reference(String(argument), template);
    case 'Fn::If':
      return items.slice(1).flatMap((branch) => possibleTexts(branch, template));
    case 'Fn::Join':
      return join(items, template);
    case 'Fn::Sub':
      return substitute(items, template);
    case 'Fn::GetAtt':
      return [`‹${items.map(String).join('.')}›`];
    default:
      return [placeholder(items, template)];
  }
}

/** Something that cannot be computed here; what it is made of stays readable in it. */
const placeholder = (parts: readonly unknown[], template: Template): string =>
  `‹${parts.flatMap((part) => possibleTexts(part, template)).join(' ')}›`;

function reference(name: string, { boundary, document }: Template): readonly string[] {
  const pseudo: Record<string, string> = {
    'AWS::Region': boundary.region,
    'AWS::Partition': 'aws',
    'AWS::URLSuffix': 'amazonaws.com',
    'AWS::NoValue': '',
  };
  if (name in pseudo) return [pseudo[name] as string];
  const parameters = objectAt(document, 'Parameters');
  if (!(name in parameters)) return [`‹${name}›`];
  const { AllowedValues: allowed, Default: usual } = objectAt(parameters, name);
  if (Array.isArray(allowed)) return allowed.map(String);
  return [...(usual === undefined ? [] : [String(usual)]), `‹parameter ${name}›`];
}

function join([separator, pieces]: readonly unknown[], template: Template): readonly string[] {
  if (!Array.isArray(pieces)) return [placeholder([pieces], template)];
  return combine(
    pieces.map((piece) => possibleTexts(piece, template)),
    String(separator ?? ''),
  );
}

function substitute([pattern, variables]: readonly unknown[], template: Template): readonly string[] {
  const given: JsonObject = isObject(variables) ? variables : {};
  // Split by a capturing group: texts at even places, names of variables at odd ones.
  const pieces = String(pattern).split(/\$\{([^}]+)\}/);
  return combine(
    pieces.map((piece, index) => {
      if (index % 2 === 0) return [piece];
      if (piece.startsWith('!')) return [`\${${piece.slice(1)}}`];
      if (piece in given) return possibleTexts(given[piece], template);
      return piece.includes('.') ? [`‹${piece}›`] : reference(piece, template);
    }),
    '',
  );
}

function combine(pieces: readonly (readonly string[])[], separator: string): readonly string[] {
  return pieces.reduce<readonly string[]>(
    (texts, alternatives, index) => {
      if (texts.length * alternatives.length > mostAlternatives) {
        throw new Error(
          `A value of the template can become more than ${mostAlternatives} texts: use fewer conditions.`,
        );
      }
      return texts.flatMap((text) =>
        alternatives.map((alternative) => (index === 0 ? alternative : `${text}${separator}${alternative}`)),
      );
    },
    [''],
  );
}

/**
 * The values of a property that is given by its path, `*` being each item of a list, with each branch of a condition. A
 * property that is left out is `undefined`; no item of a list is no value.
 */
export function valuesAt(start: LocatedValue, path: string): readonly LocatedValue[] {
  return path
    .split('.')
    .reduce<readonly LocatedValue[]>(
      (places, step) => places.flatMap(branchesOf).flatMap((place) => enter(place, step)),
      [start],
    )
    .flatMap(branchesOf);
}

function branchesOf({ location, value }: LocatedValue): readonly LocatedValue[] {
  const { name, argument } = intrinsicOf(value) ?? {};
  if (name === 'Ref' && argument === 'AWS::NoValue') return [{ location, value: undefined }];
  if (name !== 'Fn::If' || !Array.isArray(argument)) return [{ location, value }];
  return argument
    .slice(1)
    .flatMap((branch, index) => branchesOf({ location: `${location}.Fn::If.${index + 1}`, value: branch }));
}

function enter({ location, value }: LocatedValue, step: string): readonly LocatedValue[] {
  if (step !== '*') {
    return [{ location: `${location}.${step}`, value: isObject(value) ? value[step] : undefined }];
  }
  // CloudFormation takes a single value where a list is asked for.
  const items = value === undefined ? [] : [value].flat();
  return items.map((item, index) => ({ location: `${location}.${index}`, value: item }));
}

/** Logical ids of what a value refers to. */
export function referencesIn(value: unknown): readonly string[] {
  const { name, argument } = intrinsicOf(value) ?? {};
  if (name === 'Ref') return [String(argument)];
  if (name === 'Fn::GetAtt') return [String([argument].flat()[0]).split('.')[0] ?? ''];
  if (name === 'Fn::Sub') {
    const [pattern, variables] = [argument].flat();
    const inPattern = String(pattern).matchAll(/\$\{([^}!.]+)[^}]*\}/g);
    return [...Array.from(inPattern, ([, variable = '']) => variable), ...referencesIn(variables)];
  }
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(referencesIn) : [];
}
