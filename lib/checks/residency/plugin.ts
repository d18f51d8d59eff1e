import { readFileSync } from 'node:fs';
import type {
  IPolicyValidationContext,
  IPolicyValidationPlugin,
  PolicyValidationPluginReport,
  PolicyValidationStack,
  PolicyViolation,
} from 'aws-cdk-lib';
import type { Environment } from '../../environment/schema';
import { foreignRegion } from './regions';
import { allowedValues, unreviewed } from './reviewed';
import { cloudWatchDashboard, publicPolicy, publicSubnet, unreadable, webhookOrigin } from './rules';
import { type Finding, type JsonObject, type ResidencyBoundary, type Rule, readTemplate } from './template';

/** Other rules do not apply to such a stack. */
const unlistedStack: Rule = {
  id: 'unlisted-stack',
  refuses: 'The stack has no row in the table of environments, or is not in the region of its row',
  remedy:
    'Add or correct the row in lib/environments.ts; nothing is deployed beside the stacks that it lists.',
  find: () => [],
};

const templateRules = [
  unreviewed,
  allowedValues,
  foreignRegion,
  unreadable,
  webhookOrigin,
  publicSubnet,
  publicPolicy,
  cloudWatchDashboard,
];

/** What the rules find in a template, by rule. */
export const findingsIn = (document: JsonObject, boundary: ResidencyBoundary) => {
  const template = readTemplate(document, boundary);
  return templateRules.flatMap((rule) => Array.from(rule.find(template), (finding) => ({ rule, finding })));
};

/** Boundaries of the environments' stacks and standbys. */
export const boundariesOf = (environments: readonly Environment[]): readonly ResidencyBoundary[] =>
  environments.flatMap(
    ({ stackId, region, residencyRegions, multiRegionKeys = false, ...row }): ResidencyBoundary[] => {
      const { webhookOrigin, disposable = false, standby } = row;
      const both = { residencyRegions, multiRegionKeys };
      const elasticIps = webhookOrigin?.reserve ? 2 : 1;
      return [
        { stackId, region, ...both, disposable, natGateways: 1, elasticIps },
        ...(standby
          ? [{ stackId: standby.stackId, region: standby.region, ...both, natGateways: 0 as const }]
          : []),
      ];
    },
  );

/**
 * Rejects, at synthesis, templates that could move data across their stack's boundary or allow access from the internet. Reads
 * only files of the assembly. Its findings cannot be acknowledged: change the table or the rules.
 */
export class ResidencyPlugin implements IPolicyValidationPlugin {
  readonly name = 'Residency';
  readonly ruleIds = [unlistedStack, ...templateRules].map(({ id }) => id);

  constructor(private readonly boundaries: readonly ResidencyBoundary[]) {}

  validate({ stackTemplates }: IPolicyValidationContext): PolicyValidationPluginReport {
    const violations = stackTemplates.flatMap((stack) => this.check(stack));
    return { success: violations.length === 0, violations };
  }

  private check(stack: PolicyValidationStack): readonly PolicyViolation[] {
    const boundary = this.boundaries.find(({ stackId }) => stackId === stack.stackConstructPath);
    if (boundary === undefined || boundary.region !== stack.region) {
      return [violation(unlistedStack, { location: 'Region', value: stack.region ?? 'any region' }, stack)];
    }
    const document = JSON.parse(readFileSync(stack.templatePath, 'utf8'));
    return findingsIn(document, boundary).map(({ rule, finding }) => violation(rule, finding, stack));
  }
}

function violation(
  { id, refuses, remedy }: Rule,
  { logicalId, location, value }: Finding,
  { templatePath, stackConstructPath }: PolicyValidationStack,
): PolicyViolation {
  const text = JSON.stringify(value) ?? 'left out';
  const shown = text.length > 300 ? `${text.slice(0, 300)}…` : text;
  const subject =
    logicalId === undefined ? { constructPath: stackConstructPath } : { resourceLogicalId: logicalId };
  return {
    ruleName: id,
    description: `${refuses}: ${location} is ${shown}`,
    fix: remedy,
    // The only severity that cannot be acknowledged.
    severity: 'fatal',
    violatingResources: [{ locations: [location], templatePath, ...subject }],
  };
}
