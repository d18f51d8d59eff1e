import { callsIn, rootOf } from '../located-values';
import { findingAt, findingOf, type Rule } from '../rule';
import type { Resource, Template } from '../template';

const macro = 'Fn::Transform';

/** What CloudFormation would add or fetch by itself cannot be checked before. */
export const unreadableTemplate: Rule = {
  id: 'unreadable-template',
  refuses: 'Resources that cannot be read at synthesis',
  remedy:
    'Declare the resources in this app, in a stack or a nested stack, without macros, modules and stack sets.',
  *find(template) {
    const { Transform: macros } = template.document;
    if (macros !== undefined) yield { location: 'Transform', value: macros };
    for (const resource of template.resources) {
      if (isUnreadable(resource, template)) yield findingOf(resource);
      for (const call of callsIn(rootOf(resource), [macro])) yield findingAt(resource, call);
    }
  },
};

function isUnreadable({ type, logicalId }: Resource, { nested }: Template): boolean {
  if (type === 'AWS::CloudFormation::Stack') return !nested.has(logicalId);
  return type === 'AWS::CloudFormation::StackSet' || type.endsWith('::MODULE') || logicalId === macro;
}
