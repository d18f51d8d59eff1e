import { readFileSync } from 'node:fs';
import type {
  IPolicyValidationContext,
  IPolicyValidationPlugin,
  PolicyValidationPluginReport,
  PolicyValidationStack,
  PolicyViolation,
} from 'aws-cdk-lib';
import type { Environment } from '../../environment';
import { dashboardContent } from './dashboards';
import { elasticIpRetained, natCount, publicSubnet } from './network';
import { publicPolicy } from './policies';
import { foreignRegion } from './regions';
import { allowedValues, unreviewed } from './reviewed';
import {
  boundariesOf,
  entriesWithin,
  type Finding,
  type ResidencyBoundary,
  type Rule,
  readTemplate,
  rootOf,
} from './template';

/** A stack that no row stands for, or in another region than its row says: nothing else of it is looked at. */
const unlistedStack: Omit<Rule, 'find'> = {
  id: 'unlisted-stack',
  refuses: 'The stack has no row in the table of environments, or is not in the region of its row',
  remedy:
    'Add or correct the row in lib/environments.ts; nothing is deployed beside the stacks that it lists.',
};

const sections = ['Conditions', 'Description', 'Metadata', 'Outputs', 'Parameters', 'Resources', 'Rules'];
const functions = ['And', 'Equals', 'GetAtt', 'If', 'Join', 'Not', 'Or', 'Select', 'Split', 'Sub'];

/** Macros and mappings, imports and exports: what these checks do not read, and what ties stacks together. */
const unreadable: Rule = {
  id: 'unreadable',
  refuses: 'A part of a template that these checks do not read, or a reference between stacks',
  remedy:
    'Make the resource in the stack that uses it, pass its name as configuration, and do without macros and mappings.',
  *find({ document, resources }) {
    for (const [location, value] of Object.entries(document)) {
      if (!sections.includes(location)) yield { location, value };
    }
    const others = ['Outputs', 'Conditions'].map((location) => ({ location, value: document[location] }));
    for (const place of [...resources.map((each) => ({ ...each, ...rootOf(each) })), ...others]) {
      const { logicalId } = place as Finding;
      for (const { name, location, value } of entriesWithin(place)) {
        const isReadable = !name.startsWith('Fn::') || functions.includes(name.slice('Fn::'.length));
        if (!isReadable || (place.location === 'Outputs' && name === 'Export')) {
          yield { ...(logicalId !== undefined && { logicalId }), location, value };
        }
      }
    }
  },
};

/**
 * A cluster over several regions in an environment of one region. With several regions, each member is in its own
 * stack, whose region is checked, and the primary's ARN is checked like any other.
 */
const globalDatabase: Rule = {
  id: 'global-database',
  refuses: 'A global database, in an environment whose data stays in one region',
  remedy: 'Use a cluster of the one region; its copies are in the other zones.',
  *find({ boundary, resources }) {
    if (boundary.residencyRegions.length > 1) return;
    for (const { logicalId, type, properties } of resources) {
      const membership = properties.GlobalClusterIdentifier;
      if (type === 'AWS::RDS::GlobalCluster') yield { logicalId, location: 'Type', value: type };
      else if (membership !== undefined) {
        yield { logicalId, location: 'Properties.GlobalClusterIdentifier', value: membership };
      }
    }
  },
};

/** Every rule about templates. */
export const templateRules: readonly Rule[] = [
  unreviewed,
  allowedValues,
  foreignRegion,
  unreadable,
  globalDatabase,
  natCount,
  elasticIpRetained,
  publicSubnet,
  publicPolicy,
  dashboardContent,
];

/** Longest value that is shown whole. */
const longestValue = 300;

/** Refuses, at synthesis, what could take data out of the environments' regions or let the internet in. */
export function residencyPlugin(environments: readonly Environment[]): ResidencyPlugin {
  return new ResidencyPlugin(boundariesOf(environments));
}

/**
 * Checks every synthesized template against the boundary of its stack. Reads files of the assembly only. Its findings cannot
 * be acknowledged away: what may be is a matter of the table and the rules.
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
      const finding = { location: 'Region', value: stack.region ?? 'any region' };
      return [violation(unlistedStack, finding, stack)];
    }
    const template = readTemplate(JSON.parse(readFileSync(stack.templatePath, 'utf8')), boundary);
    return templateRules.flatMap((rule) =>
      Array.from(rule.find(template), (finding) => violation(rule, finding, stack)),
    );
  }
}

function violation(
  rule: Omit<Rule, 'find'>,
  { logicalId, location, value }: Finding,
  { templatePath, stackConstructPath }: PolicyValidationStack,
): PolicyViolation {
  const text = JSON.stringify(value) ?? 'left out';
  const shown = text.length > longestValue ? `${text.slice(0, longestValue)}…` : text;
  return {
    ruleName: rule.id,
    description: `${rule.refuses}: ${location} is ${shown}`,
    fix: rule.remedy,
    // The one severity that an acknowledgement does not silence.
    severity: 'fatal',
    violatingResources: [
      {
        locations: [location],
        templatePath,
        ...(logicalId === undefined
          ? { constructPath: stackConstructPath }
          : { resourceLogicalId: logicalId }),
      },
    ],
  };
}
