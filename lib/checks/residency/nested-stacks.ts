import { basename, dirname, join } from 'node:path';
import { NestedStack, Stack } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import type { FindNested } from './template';

/** Finds the templates of an app's nested stacks, which a validation plugin is not told of. */
export function nestedStacksOf(app: IConstruct): FindNested {
  const files = new Map<string, string>();
  for (const nested of app.node.findAll()) {
    const resource = NestedStack.isNestedStack(nested) ? nested.nestedStackResource : undefined;
    if (!NestedStack.isNestedStack(nested) || resource === undefined) continue;
    const declaring = Stack.of(resource);
    files.set(keyOf(declaring.templateFile, declaring.resolve(resource.logicalId)), nested.templateFile);
  }
  return (declaringFile, logicalId) => {
    const file = files.get(keyOf(basename(declaringFile), logicalId));
    return file === undefined ? undefined : join(dirname(declaringFile), file);
  };
}

const keyOf = (templateFile: string, logicalId: string) => `${templateFile} ${logicalId}`;
