import type { Environment } from '../../environment';

/** What one stack must keep to, so that an environment's data stays in its regions. */
export interface ResidencyBoundary {
  /** The stack's path in the app; its name, for a stack that stands directly under the app. */
  readonly stackId: string;
  /** The AWS region that the stack is deployed to. */
  readonly region: string;
  /** All AWS regions that the environment's data may be in; contains `region`. */
  readonly residencyRegions: readonly string[];
  /** NAT gateways that the stack has: one where it serves, none where it only stands by. */
  readonly natGateways: 0 | 1;
  /** Elastic IPs that the stack may have. @default - as many as NAT gateways */
  readonly elasticIps?: 1 | 2;
  /** Types of global services that this stack may have and no other. @default - none */
  readonly globalTypes?: readonly string[];
}

/** The boundaries of the stacks that the environments' rows stand for, their standbys' among them. */
export function boundariesOf(environments: readonly Environment[]): readonly ResidencyBoundary[] {
  return environments.flatMap(({ stackId, region, residencyRegions, webhookOrigin, standby }) => [
    {
      stackId,
      region,
      residencyRegions,
      natGateways: 1,
      elasticIps: webhookOrigin?.reserve ? 2 : 1,
    } as const,
    ...(standby
      ? [{ stackId: standby.stackId, region: standby.region, residencyRegions, natGateways: 0 } as const]
      : []),
  ]);
}

export type JsonObject = { readonly [key: string]: unknown };

export interface Resource {
  readonly logicalId: string;
  readonly type: string;
  readonly properties: JsonObject;
  readonly deletionPolicy: unknown;
  readonly updateReplacePolicy: unknown;
}

/** A synthesized template with the boundary of its stack. */
export interface Template {
  readonly boundary: ResidencyBoundary;
  /** As CloudFormation gets it. */
  readonly document: JsonObject;
  readonly resources: readonly Resource[];
}

/** A value in a template and its location, such as `Properties.Tags.0.Value`. */
export interface LocatedValue {
  readonly location: string;
  readonly value: unknown;
}

/** Something that may not be in a template. */
export interface Finding extends LocatedValue {
  /** Absent when it concerns the stack rather than one of its resources. */
  readonly logicalId?: string;
}

/** One of the things that could take data out of an environment's regions, or let the internet in. */
export interface Rule {
  readonly id: string;
  /** What is wrong; location and value follow. */
  readonly refuses: string;
  /** What to do instead, as a sentence. */
  readonly remedy: string;
  readonly find: (template: Template) => Iterable<Finding>;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A section or field that is an object; empty when it is left out. */
export function objectAt(value: unknown, key: string): JsonObject {
  const found = isObject(value) ? value[key] : undefined;
  return isObject(found) ? found : {};
}

export function readTemplate(document: JsonObject, boundary: ResidencyBoundary): Template {
  const resources = Object.entries(objectAt(document, 'Resources')).map(([logicalId, declaration]) => {
    const { Type, DeletionPolicy, UpdateReplacePolicy } = isObject(declaration) ? declaration : {};
    return {
      logicalId,
      type: String(Type),
      properties: objectAt(declaration, 'Properties'),
      deletionPolicy: DeletionPolicy,
      updateReplacePolicy: UpdateReplacePolicy,
    };
  });
  return { document, boundary, resources };
}

/** All properties of a resource as one value. */
export const rootOf = ({ properties }: Resource): LocatedValue => ({
  location: 'Properties',
  value: properties,
});

/** The entries of a value's objects, at any depth, each with its name. */
export function* entriesWithin({
  location,
  value,
}: LocatedValue): Generator<LocatedValue & { readonly name: string }> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    const place = { location: `${location}.${name}`, value: item };
    if (!Array.isArray(value)) yield { ...place, name };
    yield* entriesWithin(place);
  }
}
