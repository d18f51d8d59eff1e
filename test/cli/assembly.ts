import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TableStack } from '../../lib/environment/schema';

/** Writes an assembly with these stacks and one template, in the shape that the CDK writes. */
export function writeAssembly(
  folder: string,
  template: object,
  stacks: readonly Pick<TableStack, 'stackId' | 'region'>[],
  account = 'unknown-account',
  terminationProtection = true,
): void {
  const properties = {
    templateFile: 'template.json',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the CDK's placeholder
    stackTemplateAssetObjectUrl: 's3://cdk-hnb659fds-assets-${AWS::AccountId}-eu-central-1/abc.json',
    tags: { environment: 'eu' },
    terminationProtection,
  };
  const artifacts = stacks.map(({ stackId, region }) => {
    const environment = `aws://${account}/${region}`;
    return [stackId, { type: 'aws:cloudformation:stack', environment, properties }];
  });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ artifacts: Object.fromEntries(artifacts) }));
  writeFileSync(join(folder, 'template.json'), JSON.stringify(template));
}
