import { readFileSync } from 'node:fs';
import {
  CfnResource,
  type IPolicyValidationContext,
  type IPolicyValidationPlugin,
  type PolicyValidationPluginReport,
  type PolicyValidationStack,
  type PolicyViolation,
  Stack,
} from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import type { Template } from '../../../domain/assembly';
import { type Acknowledgement, acknowledgementsIn } from '../../../domain/residency';
import type { Environment } from '../../environment/schema';
import { acknowledgedBy } from './acknowledgements';
import { foreignRegion } from './regions';
import { allowedValues, unreviewed } from './reviewed';
import { cloudWatchDashboard, publicPolicy, publicSubnet, unreadable, webhookOrigin } from './rules';
import { type Finding, type ResidencyBoundary, type Rule, readTemplate } from './template';

/** Other rules do not apply to such a stack. */
const unlistedStack: Rule = {
  id: 'unlisted-stack',
  refuses: 'The stack has no row in the table of environments, or is not in the region of its row',
  remedy:
    'Add or correct the row in lib/environments.ts. A stack of your own belongs to a row: docs/deploying.md#build-on-it.',
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

const acknowledgeable = [unreviewed, allowedValues];

const acknowledgement: Rule = {
  id: 'acknowledgement',
  refuses: 'An acknowledgement without a reason or an acceptable finding, or not at the resource itself',
  remedy: `Acknowledge ${acknowledgeable.map(({ id }) => id).join(' or ')}, each with the location as in the finding, with a reason at the resource that has it, or remove it.`,
  find: () => [],
};

type Found = ReturnType<typeof findingsIn>[number];

/** As in cdk-nag, such as `unreviewed[Properties.Layers]`, for what can be acknowledged. */
const idOf = ({ rule, finding }: Found) =>
  acknowledgeable.includes(rule) ? `${rule.id}[${finding.location}]` : rule.id;

const accepts = ({ logicalId, rule: id }: Acknowledgement, found: Found) =>
  acknowledgeable.includes(found.rule) && logicalId === found.finding.logicalId && id === idOf(found);

/** What the rules find in a template, by rule. */
export const findingsIn = (document: Template, boundary: ResidencyBoundary) => {
  const template = readTemplate(document, boundary);
  return templateRules.flatMap((rule) => Array.from(rule.find(template), (finding) => ({ rule, finding })));
};

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

/** The boundary of a stack that `extend` adds: the row's regions, no gateway and no Elastic IP. */
export const boundaryBeside = (
  { residencyRegions }: Environment,
  { stackName: stackId, region }: Stack,
): ResidencyBoundary => ({ stackId, region, residencyRegions, natGateways: 0 });

/**
 * Rejects, at synthesis, templates that could move data across their stack's boundary or allow access from the internet. Findings
 * that nobody reviewed yet can be acknowledged at the resource, each by its location; for all others, change the table or the rules.
 */
export class ResidencyPlugin implements IPolicyValidationPlugin {
  readonly name = 'Residency';
  readonly ruleIds = [unlistedStack, acknowledgement, ...templateRules].map(({ id }) => id);

  /** @param onTemplates called with the templates before they are checked */
  constructor(
    private readonly boundaries: readonly ResidencyBoundary[],
    private readonly onTemplates: (templates: readonly PolicyValidationStack[]) => void = () => undefined,
  ) {}

  validate({ stackTemplates, appConstruct }: IPolicyValidationContext): PolicyValidationPluginReport {
    this.onTemplates(stackTemplates);
    const constructs = appConstruct.node.findAll();
    const stacks = constructs.filter(Stack.isStack);
    const violations = [
      ...constructs.flatMap(misplacedAcknowledgements),
      ...stackTemplates.flatMap((template) => {
        const stack = stacks.find(({ node }) => node.path === template.stackConstructPath);
        return this.check(template, stack?.stackName);
      }),
    ];
    return { success: violations.length === 0, violations };
  }

  private check(stack: PolicyValidationStack, stackName: string | undefined): readonly PolicyViolation[] {
    const boundary = this.boundaries.find(({ stackId }) => stackId === stackName);
    if (boundary?.region !== stack.region || !boundary?.residencyRegions.includes(boundary.region)) {
      return [violation(unlistedStack, { location: 'Region', value: stack.region ?? 'any region' }, stack)];
    }
    const document = JSON.parse(readFileSync(stack.templatePath, 'utf8'));
    const found = findingsIn(document, boundary);
    const acknowledgements = acknowledgementsIn(document);
    const open = found.filter((each) => !acknowledgements.some((one) => accepts(one, each)));
    const unused = acknowledgements.filter((one) => !found.some((each) => accepts(one, each)));
    return [
      ...open.map((each) => violation({ ...each.rule, id: idOf(each) }, each.finding, stack)),
      ...unused.map(({ logicalId, rule: value }) =>
        violation(acknowledgement, { logicalId, location: 'Metadata', value }, stack),
      ),
    ];
  }
}

/** Acknowledgements that accept nothing. */
const misplacedAcknowledgements = (construct: IConstruct): readonly PolicyViolation[] =>
  acknowledgedBy(construct)
    .filter(([, reason]) => !CfnResource.isCfnResource(construct) || !reason?.trim())
    .map(([rule]) =>
      violation(
        acknowledgement,
        { location: 'Metadata', value: rule },
        { stackConstructPath: construct.node.path, templatePath: '' },
      ),
    );

function violation(
  { id, refuses, remedy }: Rule,
  { logicalId, location, value }: Finding,
  { templatePath, stackConstructPath }: Pick<PolicyValidationStack, 'templatePath' | 'stackConstructPath'>,
): PolicyViolation {
  const text = JSON.stringify(value) ?? 'left out';
  const shown = text.length > 300 ? `${text.slice(0, 300)}…` : text;
  const subject =
    logicalId === undefined ? { constructPath: stackConstructPath } : { resourceLogicalId: logicalId };
  return {
    ruleName: id,
    description: `${refuses}: ${location} is ${shown}`,
    fix: remedy,
    // The only severity that nobody can acknowledge through the CDK, not even at the app.
    severity: 'fatal',
    violatingResources: [{ locations: [location], templatePath, ...subject }],
  };
}
