import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes an assembly with these stacks, by name, and one template, in the shape that the CDK writes. */
export function writeAssembly(
  folder: string,
  template: object,
  stacks: Readonly<Record<string, string>>,
  terminationProtection = true,
): void {
  const properties = {
    templateFile: 'template.json',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the CDK's placeholder
    stackTemplateAssetObjectUrl: 's3://cdk-hnb659fds-assets-${AWS::AccountId}-eu-central-1/abc.json',
    tags: { environment: 'eu' },
    requiresBootstrapStackVersion: 6,
    terminationProtection,
  };
  const artifacts = Object.entries(stacks).map(([name, environment]) => [name, { environment, properties }]);
  const manifest = { artifacts: Object.fromEntries(artifacts) };
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'template.json'), JSON.stringify(template));
}
