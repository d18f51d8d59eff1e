import type {
  IPolicyValidationContext,
  IPolicyValidationPlugin,
  PolicyValidationPluginReport,
  PolicyValidationStack,
  PolicyViolation,
} from 'aws-cdk-lib';
import type { Environment } from '../../environment/environment';
import { boundariesOf, type ResidencyBoundary } from './boundary';
import { nestedStacksOf } from './nested-stacks';
import type { Finding, Rule } from './rule';
import { templateRules } from './rules';
import { type FindNested, readTemplate, type Template } from './template';

/** A stack that no row stands for, or in another region than its row says: nothing else of it is looked at. */
const unlistedStack: Omit<Rule, 'find'> = {
  id: 'unlisted-stack',
  refuses: 'The stack has no row in the table of environments, or is not in the region of its row',
  remedy:
    'Add or correct the row in lib/environments.ts; nothing is deployed beside the stacks that it lists.',
};

/** Longest value that is shown whole. */
const longestValue = 300;

/** Refuses, at synthesis, what could take data out of the environments' regions or let the internet in. */
export function residencyPlugin(environments: readonly Environment[]): ResidencyPlugin {
  return new ResidencyPlugin(boundariesOf(environments));
}

/**
 * Checks every synthesized template, those of nested stacks included, against the boundary of its stack. Reads files
 * of the assembly only. Its findings cannot be acknowledged away: what may be is a matter of the table and the rules.
 */
export class ResidencyPlugin implements IPolicyValidationPlugin {
  readonly name = 'Residency';
  readonly ruleIds = [unlistedStack, ...templateRules].map(({ id }) => id);

  constructor(private readonly boundaries: readonly ResidencyBoundary[]) {}

  validate({ stackTemplates, appConstruct }: IPolicyValidationContext): PolicyValidationPluginReport {
    const findNested = nestedStacksOf(appConstruct);
    const violations = stackTemplates.flatMap((stack) => this.check(stack, findNested));
    return { success: violations.length === 0, violations };
  }

  private check(stack: PolicyValidationStack, findNested: FindNested): readonly PolicyViolation[] {
    const boundary = this.boundaries.find(({ stackId }) => stackId === stack.stackConstructPath);
    if (boundary === undefined || boundary.region !== stack.region) {
      const finding = { location: 'Region', value: stack.region ?? 'any region' };
      return [violation(unlistedStack, finding, stack.templatePath, stack.stackConstructPath)];
    }
    return checkTemplate(readTemplate(stack.templatePath, boundary, findNested), stack.stackConstructPath);
  }
}

function checkTemplate(template: Template, stackPath: string): readonly PolicyViolation[] {
  const own = templateRules.flatMap((rule) =>
    Array.from(rule.find(template), (finding) => violation(rule, finding, template.file, stackPath)),
  );
  const nested = [...template.nested.values()].flatMap((each) => checkTemplate(each, stackPath));
  return [...own, ...nested];
}

function violation(
  rule: Omit<Rule, 'find'>,
  { logicalId, location, value }: Finding,
  templatePath: string,
  stackPath: string,
): PolicyViolation {
  return {
    ruleName: rule.id,
    description: `${rule.refuses}: ${location} is ${shown(value)}`,
    fix: rule.remedy,
    // The one severity that an acknowledgement does not silence.
    severity: 'fatal',
    violatingResources: [
      {
        locations: [location],
        templatePath,
        ...(logicalId === undefined ? { constructPath: stackPath } : { resourceLogicalId: logicalId }),
      },
    ],
  };
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'left out';
  return text.length > longestValue ? `${text.slice(0, longestValue)}…` : text;
}
