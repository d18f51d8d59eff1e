import { AspectPriority, Aspects, CfnResource, type Stack, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { acknowledgementsSection } from '../../../domain/residency';

/** The residency rules that a construct acknowledges by the CDK's `Validations`, each with its reason. */
export const acknowledgedBy = ({ node }: IConstruct): readonly (readonly [rule: string, reason: string])[] =>
  node.metadata
    .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
    .flatMap(({ data }) => Object.entries<string>(data))
    .flatMap(([id, reason]) => {
      const [, rule] = /^Residency::(.*)$/i.exec(id) ?? [];
      return rule === undefined ? [] : [[rule, reason] as const];
    });

/** Writes the acknowledgements of a stack's resources into its template: there the rules, `plan` and `residency` read them. */
export function recordAcknowledgements(stack: Stack): void {
  const visit = (node: IConstruct) => {
    const reasons = Object.fromEntries(acknowledgedBy(node));
    if (!CfnResource.isCfnResource(node) || Object.keys(reasons).length === 0) return;
    const { metadata = {} } = stack.templateOptions;
    const section = { ...metadata[acknowledgementsSection], [stack.resolve(node.logicalId)]: reasons };
    stack.templateOptions.metadata = { ...metadata, [acknowledgementsSection]: section };
  };
  // After all that may acknowledge.
  Aspects.of(stack).add({ visit }, { priority: AspectPriority.READONLY });
}
