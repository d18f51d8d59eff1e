// Prints the region and the template's path for each stack of an assembly; fails if there is none.
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const assembly = process.argv[2] ?? 'cdk.out';
const { artifacts } = JSON.parse(readFileSync(join(assembly, 'manifest.json'), 'utf8'));
const stacks = Object.values(artifacts).filter(({ type }) => type === 'aws:cloudformation:stack');
if (stacks.length === 0) throw new Error(`${assembly} has no stacks.`);
for (const artifact of stacks) {
  const region = artifact.environment.split('/').at(-1);
  console.log(`${region} ${join(assembly, artifact.properties.templateFile)}`);
}
