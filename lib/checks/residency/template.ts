import { readFileSync } from 'node:fs';
import type { ResidencyBoundary } from './boundary';

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
  /** Absolute path. */
  readonly file: string;
  readonly boundary: ResidencyBoundary;
  /** As CloudFormation gets it. */
  readonly document: JsonObject;
  readonly resources: readonly Resource[];
  /** Templates of nested stacks that are part of the assembly, by logical id. */
  readonly nested: ReadonlyMap<string, Template>;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A section or field that is an object; empty when it is left out. */
export function objectAt(value: unknown, key: string): JsonObject {
  const found = isObject(value) ? value[key] : undefined;
  return isObject(found) ? found : {};
}

/** Finds the file that becomes a nested stack's template, by the template that declares it and its logical id there. */
export type FindNested = (declaringFile: string, logicalId: string) => string | undefined;

/** Reads a template of an assembly. @throws when the file is missing or no JSON */
export function readTemplate(file: string, boundary: ResidencyBoundary, findNested: FindNested): Template {
  const document = JSON.parse(readFileSync(file, 'utf8')) as JsonObject;
  const resources = Object.entries(objectAt(document, 'Resources')).map(([logicalId, declaration]) =>
    resourceOf(logicalId, declaration),
  );
  const nested = resources.flatMap(({ logicalId }) => {
    const nestedFile = findNested(file, logicalId);
    if (nestedFile === undefined) return [];
    // The parent's boundary, but for the gateway: that is the parent's own.
    return [[logicalId, readTemplate(nestedFile, { ...boundary, natGateways: 0 }, findNested)] as const];
  });
  return { file, boundary, document, resources, nested: new Map(nested) };
}

function resourceOf(logicalId: string, declaration: unknown): Resource {
  const { Type, DeletionPolicy, UpdateReplacePolicy } = isObject(declaration) ? declaration : {};
  return {
    logicalId,
    type: String(Type),
    properties: objectAt(declaration, 'Properties'),
    deletionPolicy: DeletionPolicy,
    updateReplacePolicy: UpdateReplacePolicy,
  };
}
