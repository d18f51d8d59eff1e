import type { Template, TemplateResource } from '../../../domain/assembly';
import { isObject } from '../../../domain/strict-json';

/** The limits of one stack, so that an environment's data stays in its regions. */
export interface ResidencyBoundary {
  /** The stack's name. */
  readonly stackId: string;
  readonly region: string;
  /** All AWS regions permitted for the environment's data; contains `region`. */
  readonly residencyRegions: readonly string[];
  /** NAT gateways of the stack: one where it serves, none in a standby. */
  readonly natGateways: 0 | 1;
  /** Elastic IPs that the stack may have. @default - as many as NAT gateways */
  readonly elasticIps?: 1 | 2;
  /** Whether the addresses may be released with the stack. @default false */
  readonly disposable?: boolean;
  /** Whether keys may be multi-Region ones, with replicas in `residencyRegions`. @default false */
  readonly multiRegionKeys?: boolean;
  /** Types of global services that only this stack may contain. @default - none */
  readonly globalTypes?: readonly string[];
}

export type JsonObject = { readonly [key: string]: unknown };

export interface Finding {
  /** Absent outside resources. */
  readonly logicalId?: string | undefined;
  /** Such as `Properties.Tags.0.Value`. */
  readonly location: string;
  readonly value: unknown;
}

export interface Resource extends TemplateResource {
  readonly logicalId: string;
  readonly properties: JsonObject;
  /** The properties as a finding, for what it is to contain. */
  readonly root: Finding;
}

/** A synthesized template and its stack's boundary. */
export interface BoundedTemplate {
  readonly boundary: ResidencyBoundary;
  /** As sent to CloudFormation. */
  readonly document: Template;
  readonly resources: readonly Resource[];
}

/** Rejects what could move data out of an environment's regions, or allow access from the internet. */
export interface Rule {
  readonly id: string;
  /** What is wrong; location and value follow. */
  readonly refuses: string;
  /** What to do instead, as a sentence. */
  readonly remedy: string;
  readonly find: (template: BoundedTemplate) => Iterable<Finding>;
}

/** An object-valued section or field; empty if missing. */
function objectAt(value: unknown, key: string): JsonObject {
  const found = isObject(value) ? value[key] : undefined;
  return isObject(found) ? found : {};
}

export function readTemplate(document: Template, boundary: ResidencyBoundary): BoundedTemplate {
  const resources = Object.entries(document.Resources ?? {}).map(([logicalId, resource]) => {
    const { Properties: properties = {} } = resource;
    return {
      ...resource,
      logicalId,
      properties,
      root: { logicalId, location: 'Properties', value: properties },
    };
  });
  return { document, boundary, resources };
}

// Without spreading the parent: of tens of thousands, that is half of these checks' time.
const childrenOf = ({ logicalId, location, value }: Finding): Entry[] =>
  Object.entries(typeof value === 'object' && value !== null ? value : {}).map(([name, item]) => ({
    logicalId,
    name,
    location: `${location}.${name}`,
    value: item,
  }));

type Entry = Finding & { readonly name: string };

/** Several rules ask for those of the same resources. */
const entries = new WeakMap<Finding, readonly Entry[]>();

/** The entries of a value's objects and lists, at any depth, each with its name. */
export function entriesWithin(start: Finding): readonly Entry[] {
  const known = entries.get(start);
  if (known) return known;
  const found: Entry[] = [];
  const add = (parent: Finding) => {
    for (const child of childrenOf(parent)) {
      found.push(child);
      add(child);
    }
  };
  add(start);
  entries.set(start, found);
  return found;
}

/** Name and argument of an intrinsic function, if the value is one. */
export function intrinsicOf(value: unknown): { readonly name?: string; readonly argument?: unknown } {
  const [[name, argument] = ['', undefined], ...others] = isObject(value) ? Object.entries(value) : [];
  return others.length === 0 && (name === 'Ref' || name.startsWith('Fn::')) ? { name, argument } : {};
}

/**
 * The possible texts of a value: joins pieces, substitutes variables, and returns a text for each branch of a condition and each
 * allowed value of a parameter. Values known only to CloudFormation are placeholders in ‹›. @throws for more than 1,000
 */
export function possibleTexts(value: unknown, template: BoundedTemplate): readonly string[] {
  if (typeof value !== 'object' || value === null) return [String(value ?? '')];
  const { name, argument } = intrinsicOf(value);
  const items: readonly unknown[] = name === undefined ? Object.values(value) : [argument].flat();
  const [first, second] = items;
  if (name === 'Ref') return reference(String(argument), template);
  if (name === 'Fn::GetAtt') return [`‹${items.join('.')}›`];
  if (name === 'Fn::If') return items.slice(1).flatMap((branch) => possibleTexts(branch, template));
  if (name === 'Fn::Join' && Array.isArray(second)) {
    return combine(
      second.map((piece) => possibleTexts(piece, template)),
      String(first),
    );
  }
  if (name === 'Fn::Sub') {
    const variables = isObject(second) ? second : {};
    // Split by a capturing group: texts at even indexes, names of variables at odd ones.
    const pieces = String(first).split(/\$\{([^}]+)\}/);
    return combine(
      pieces.map((piece, index) => {
        if (index % 2 === 0) return [piece];
        if (piece.startsWith('!')) return [`\${${piece.slice(1)}}`];
        if (piece in variables) return possibleTexts(variables[piece], template);
        return piece.includes('.') ? [`‹${piece}›`] : reference(piece, template);
      }),
      '',
    );
  }
  return [`‹${items.flatMap((item) => possibleTexts(item, template)).join(' ')}›`];
}

function reference(name: string, { boundary, document }: BoundedTemplate): readonly string[] {
  const pseudo: Readonly<Record<string, string>> = {
    'AWS::Region': boundary.region,
    'AWS::Partition': 'aws',
    'AWS::URLSuffix': 'amazonaws.com',
    'AWS::NoValue': '',
  };
  const known = pseudo[name];
  if (known !== undefined) return [known];
  const parameters = objectAt(document, 'Parameters');
  if (!(name in parameters)) return [`‹${name}›`];
  const { AllowedValues: allowed, Default: usual } = objectAt(parameters, name);
  if (Array.isArray(allowed)) return allowed.map(String);
  return [...(usual === undefined ? [] : [String(usual)]), `‹parameter ${name}›`];
}

function combine(pieces: readonly (readonly string[])[], separator: string): readonly string[] {
  const [first = [''], ...rest] = pieces;
  return rest.reduce((texts, alternatives) => {
    if (texts.length * alternatives.length > 1000) {
      throw new Error('A value of the template can become more than 1000 texts: use fewer conditions.');
    }
    return texts.flatMap((text) => alternatives.map((alternative) => `${text}${separator}${alternative}`));
  }, first);
}

/**
 * The values at a property path, in which `*` is each item of a list, in each branch of a condition. A missing property
 * is `undefined`; an empty list has no values.
 */
export const valuesAt = (start: Finding, path: string): readonly Finding[] =>
  path
    .split('.')
    .reduce<readonly Finding[]>(
      (found, step) => found.flatMap(branchesOf).flatMap((parent) => enter(parent, step)),
      [start],
    )
    .flatMap(branchesOf);

/** The value in each branch of a condition; one value for any other. */
export function branchesOf(found: Finding): readonly Finding[] {
  const { name, argument } = intrinsicOf(found.value);
  if (name !== 'Fn::If' || !Array.isArray(argument)) return [found];
  return childrenOf({ ...found, location: `${found.location}.Fn::If`, value: argument })
    .slice(1)
    .flatMap(branchesOf);
}

function enter(found: Finding, step: string): readonly Finding[] {
  const { value, location } = found;
  // CloudFormation accepts a single value in place of a list.
  if (step === '*') return value === undefined ? [] : childrenOf({ ...found, value: [value].flat() });
  return [{ ...found, location: `${location}.${step}`, value: isObject(value) ? value[step] : undefined }];
}
