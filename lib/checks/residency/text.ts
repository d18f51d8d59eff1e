import { isObject, type JsonObject, objectAt, type Template } from './template';

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
 * pieces is whole here: pieces are joined, variables and mappings filled in, and each branch of a condition and each
 * allowed value of a parameter is a separate text.
 *
 * @throws when there are more than 1,000
 */
export function possibleTexts(value: unknown, template: Template): readonly string[] {
  if (!isObject(value) && !Array.isArray(value)) return [String(value ?? '')];
  const intrinsic = intrinsicOf(value);
  if (intrinsic === undefined) return [placeholder(Object.values(value), template)];
  const { name, argument } = intrinsic;
  switch (name) {
    case 'Ref':
      return reference(String(argument), template);
    case 'Fn::If':
      return Array.isArray(argument)
        ? argument.slice(1).flatMap((branch) => possibleTexts(branch, template))
        : [''];
    case 'Fn::Join':
      return join(argument, template);
    case 'Fn::Sub':
      return substitute(argument, template);
    case 'Fn::FindInMap':
      return findInMap(argument, template);
    case 'Fn::GetAtt':
      return [`‹${[argument].flat().map(String).join('.')}›`];
    default:
      return [placeholder([argument].flat(), template)];
  }
}

/** Something that cannot be computed here; what it is made of stays readable in it. */
function placeholder(parts: readonly unknown[], template: Template): string {
  return `‹${parts.flatMap((part) => possibleTexts(part, template)).join(' ')}›`;
}

function reference(name: string, template: Template): readonly string[] {
  switch (name) {
    case 'AWS::Region':
      return [template.boundary.region];
    case 'AWS::Partition':
      return ['aws'];
    case 'AWS::URLSuffix':
      return ['amazonaws.com'];
    case 'AWS::NoValue':
      return [''];
  }
  const parameters = objectAt(template.document, 'Parameters');
  if (!(name in parameters)) return [`‹${name}›`];
  const { AllowedValues: allowed, Default: usual } = objectAt(parameters, name);
  if (Array.isArray(allowed)) return allowed.map(String);
  return [...(usual === undefined ? [] : [String(usual)]), `‹parameter ${name}›`];
}

function join(argument: unknown, template: Template): readonly string[] {
  const [separator, pieces] = Array.isArray(argument) ? argument : [];
  if (!Array.isArray(pieces)) return [placeholder([pieces], template)];
  return combine(
    pieces.map((piece) => possibleTexts(piece, template)),
    String(separator ?? ''),
  );
}

function substitute(argument: unknown, template: Template): readonly string[] {
  const [pattern, variables] = Array.isArray(argument) ? argument : [argument];
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

function findInMap(argument: unknown, template: Template): readonly string[] {
  const [map, first, second, options] = Array.isArray(argument) ? argument : [];
  const rows = objectAt(objectAt(template.document, 'Mappings'), String(map));
  const found = select(rows, first, template).flatMap((row) => select(row, second, template));
  const fallback = objectAt({ options }, 'options').DefaultValue;
  return [...found, ...(fallback === undefined ? [] : [fallback])].flatMap((value) =>
    [value].flat().flatMap((item) => possibleTexts(item, template)),
  );
}

/** The values under a key, or under any key when the key is known only to CloudFormation. */
function select(rows: unknown, key: unknown, template: Template): readonly unknown[] {
  if (!isObject(rows)) return [];
  const named = possibleTexts(key, template).filter((name) => name in rows);
  return named.length > 0 ? named.map((name) => rows[name]) : Object.values(rows);
}

function combine(pieces: readonly (readonly string[])[], separator: string): readonly string[] {
  return pieces.reduce(
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
    [''] as readonly string[],
  );
}
