/** Prints the region and the path of each template of assemblies, and fails if one has none: `.ci/list-templates.ts ASSEMBLY...`. */
import { join } from 'node:path';
import { listStacks } from '../cli/deployments/assembly';

for (const assembly of process.argv.slice(2)) {
  const stacks = listStacks(assembly);
  if (stacks.length === 0) throw new Error(`${assembly} has no stacks.`);
  for (const { region, templateFile } of stacks) console.log(`${region} ${join(assembly, templateFile)}`);
}
