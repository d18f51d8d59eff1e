import { callsIn, rootOf } from '../located-values';
import { findingAt, findingOf, type Rule } from '../rule';
import { isObject, objectAt } from '../template';

const imports = ['Fn::ImportValue', 'Fn::GetStackOutput'];
// What the CDK adds to a stack for a reference to another region.
const carriers =
  /^Custom::(CrossRegionExportWriter|CrossRegionExportReader|CrossRegionStringParameterReader)$/;

/** Stacks share nothing, within a region or between two. */
export const crossStackReference: Rule = {
  id: 'cross-stack-reference',
  refuses: 'A reference between stacks',
  remedy: 'Make the resource in the stack that uses it, or pass its name as configuration.',
  *find({ document, resources }) {
    for (const resource of resources) {
      if (carriers.test(resource.type)) yield findingOf(resource);
      for (const call of callsIn(rootOf(resource), imports)) yield findingAt(resource, call);
    }
    for (const [name, output] of Object.entries(objectAt(document, 'Outputs'))) {
      if (isObject(output) && output.Export !== undefined) {
        yield { location: `Outputs.${name}.Export`, value: output.Export };
      }
    }
    for (const section of ['Outputs', 'Conditions']) {
      yield* callsIn({ location: section, value: document[section] }, imports);
    }
  },
};
