// Prints the region and the template's path for each stack of an assembly.
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const assembly = process.argv[2] ?? 'cdk.out';
const { artifacts } = JSON.parse(readFileSync(join(assembly, 'manifest.json'), 'utf8'));
for (const artifact of Object.values(artifacts)) {
  if (artifact.type !== 'aws:cloudformation:stack') continue;
  const region = artifact.environment.split('/').at(-1);
  console.log(`${region} ${join(assembly, artifact.properties.templateFile)}`);
}
