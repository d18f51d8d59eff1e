import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stack } from '../cli/deployments/losses';

// biome-ignore lint/suspicious/noExplicitAny: an assembly is arbitrary JSON
type Json = any;

/** The stacks that an assembly's manifest lists, by name. */
export function readStacks(assembly: string): Readonly<Record<string, Stack>> {
  const read = (file: string): Json => JSON.parse(readFileSync(join(assembly, file), 'utf8'));
  return Object.fromEntries(
    Object.entries<Json>(read('manifest.json').artifacts)
      .filter(([, { type }]) => type === 'aws:cloudformation:stack')
      .map(([id, { environment, properties }]) => [
        properties.stackName ?? id,
        {
          environment,
          terminationProtection: properties.terminationProtection === true,
          template: read(properties.templateFile),
        },
      ]),
  );
}
