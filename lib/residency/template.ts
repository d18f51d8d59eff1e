import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

/** Reads a template of an assembly. @throws when the file is missing or no JSON */
export function readTemplate(file: string, boundary: ResidencyBoundary): Template {
  const document = JSON.parse(readFileSync(file, 'utf8')) as JsonObject;
  const declared = Object.entries(objectAt(document, 'Resources')).filter(([, declaration]) =>
    isObject(declaration),
  );
  const nestedFiles = declared.flatMap(([logicalId, declaration]) => {
    // The library notes there which file of the assembly becomes the nested stack's template.
    const asset = objectAt(declaration, 'Metadata')['aws:asset:path'];
    const isStack = (declaration as JsonObject).Type === 'AWS::CloudFormation::Stack';
    const nested = isStack && typeof asset === 'string' ? join(dirname(file), asset) : undefined;
    return nested !== undefined && existsSync(nested) ? [[logicalId, nested] as const] : [];
  });
  return {
    file,
    boundary,
    document,
    resources: declared.map(([logicalId, declaration]) => resourceOf(logicalId, declaration as JsonObject)),
    nested: new Map(
      // The parent's boundary, but for the gateway: that is the parent's own.
      nestedFiles.map(([logicalId, nested]) => [
        logicalId,
        readTemplate(nested, { ...boundary, natGateways: 0 }),
      ]),
    ),
  };
}

function resourceOf(logicalId: string, declaration: JsonObject): Resource {
  return {
    logicalId,
    type: String(declaration.Type),
    properties: objectAt(declaration, 'Properties'),
    deletionPolicy: declaration.DeletionPolicy,
    updateReplacePolicy: declaration.UpdateReplacePolicy,
  };
}
