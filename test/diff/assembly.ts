import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// biome-ignore lint/suspicious/noExplicitAny: a template's JSON is as free as this
type Json = any;

/** A stack of an assembly. */
export interface Stack {
  /** Such as `aws://unknown-account/eu-central-1`. */
  readonly environment: string;
  readonly terminationProtection: boolean;
  readonly template: Json;
}

/** The stacks that an assembly's manifest lists, by name. */
export function readStacks(assembly: string): Readonly<Record<string, Stack>> {
  const read = (file: string): Json => JSON.parse(readFileSync(join(assembly, file), 'utf8'));
  const artifacts = Object.entries<Json>(read('manifest.json').artifacts).filter(
    ([, { type }]) => type === 'aws:cloudformation:stack',
  );
  return Object.fromEntries(
    artifacts.map(([id, { environment, properties }]) => [
      properties.stackName ?? id,
      {
        environment,
        terminationProtection: properties.terminationProtection === true,
        template: read(properties.templateFile),
      },
    ]),
  );
}
