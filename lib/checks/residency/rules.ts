import type { Template } from '../../../domain/assembly';
import { isObject, parseObject } from '../../../domain/strict-json';
import {
  type BoundedTemplate,
  branchesOf,
  entriesWithin,
  type Finding,
  type JsonObject,
  possibleTexts,
  type ResidencyBoundary,
  type Resource,
  type Rule,
  valuesAt,
} from './template';

const ofType = ({ resources }: BoundedTemplate, wanted: string): readonly Resource[] =>
  resources.filter(({ Type }) => Type === wanted);

const sections = ['Conditions', 'Description', 'Metadata', 'Outputs', 'Parameters', 'Resources', 'Rules'];
const unreadFunction = /^Fn::(?!(And|Equals|GetAtt|If|Join|Not|Or|Select|Split|Sub)$)/;

/** Nested stacks and modules. */
const holdsTemplate = /^AWS::CloudFormation::|::MODULE$/;

/** Macros, mappings and templates in templates, which these checks do not read; imports and exports, which couple stacks. */
export const unreadable: Rule = {
  id: 'unreadable',
  refuses: 'A part of a template that these checks do not read, or a reference between stacks',
  remedy:
    'Make the resource in the stack that uses it, pass its name as configuration, and do without macros, mappings and nested stacks.',
  *find({ document, resources }) {
    const sectionOf = (location: string): Finding => ({
      location,
      value: document[location as keyof Template],
    });
    const outputs = entriesWithin(sectionOf('Outputs'));
    const parts = [...resources.map(({ root }) => root), sectionOf('Conditions')].flatMap(entriesWithin);
    yield* Object.keys(document)
      .filter((name) => !sections.includes(name))
      .map(sectionOf);
    yield* [...parts, ...outputs].filter(({ name }) => unreadFunction.test(name));
    yield* outputs.filter(({ name }) => name === 'Export');
    for (const { logicalId, Type: value } of resources.filter(({ Type }) => holdsTemplate.test(Type)))
      yield { logicalId, location: 'Type', value };
  },
};

/**
 * Receivers rely on the address: it is retained when its resource or stack is deleted. Nobody relies on that of a disposable
 * stack, or of a failed first deployment (`RetainExceptOnCreate`). There may be fewer addresses than allowed: an adopted one is no resource of the stack.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
 */
export const webhookOrigin: Rule = {
  id: 'webhook-origin',
  refuses:
    'Not one NAT gateway (none in a standby) with the addresses of its row, which outlive the stack and the resource, unless it is disposable',
  remedy:
    'Send everything through the one webhook origin gateway. Set DeletionPolicy of its address to Retain or RetainExceptOnCreate, and UpdateReplacePolicy to Retain.',
  *find(template) {
    const { natGateways, elasticIps = natGateways, disposable } = template.boundary;
    const gateways = ofType(template, 'AWS::EC2::NatGateway');
    const addresses = ofType(template, 'AWS::EC2::EIP');
    if (gateways.length < natGateways) yield { location: 'Resources', value: 'no NAT gateway' };
    for (const { logicalId, Type: value } of [
      ...gateways.slice(natGateways),
      ...addresses.slice(elasticIps),
    ]) {
      yield { logicalId, location: 'Type', value };
    }
    if (disposable) return;
    for (const { logicalId, DeletionPolicy, UpdateReplacePolicy } of addresses) {
      const policies = `${DeletionPolicy}, ${UpdateReplacePolicy}`;
      if (!/^Retain(ExceptOnCreate)?, Retain$/.test(policies)) {
        yield { logicalId, location: 'DeletionPolicy, UpdateReplacePolicy', value: policies };
      }
    }
  },
};

/** The gateway and the parts of a public subnet. */
const allowedInPublic = [
  'AWS::EC2::NatGateway',
  'AWS::EC2::SubnetRouteTableAssociation',
  'AWS::EC2::FlowLog',
];

/** What a value refers to by `Ref`, `Fn::GetAtt` or `Fn::Sub`. */
const referencesIn = (value: unknown): readonly string[] =>
  Array.from(
    (JSON.stringify(value) ?? '').matchAll(/(?:"Ref":"|"Fn::GetAtt":\[?"|\$\{)(\w+)(?=[".}])/g),
    ([, name = '']) => name,
  );
const refersTo = (value: unknown, names: readonly string[]) =>
  referencesIn(value).some((name) => names.includes(name));

export const publicSubnet: Rule = {
  id: 'public-subnet',
  refuses: 'A resource other than the NAT gateway in a public subnet',
  remedy: 'Put it into the private or the isolated subnets.',
  *find(template) {
    const publicTables = ofType(template, 'AWS::EC2::Route')
      .filter(({ properties }) => properties.GatewayId !== undefined)
      .flatMap(({ properties }) => referencesIn(properties.RouteTableId));
    const subnets = ofType(template, 'AWS::EC2::SubnetRouteTableAssociation')
      .filter(({ properties }) => refersTo(properties.RouteTableId, publicTables))
      .flatMap(({ properties }) => referencesIn(properties.SubnetId));
    for (const { logicalId, Type, properties } of template.resources) {
      if (allowedInPublic.includes(Type)) continue;
      for (const [name, value] of Object.entries(properties)) {
        if (refersTo(value, subnets)) yield { logicalId, location: `Properties.${name}`, value };
      }
    }
  },
};

/** Whatever its conditions: no policy here needs everybody. */
const isForEverybody = ({ Effect: effect, Principal: principals, NotPrincipal: others }: JsonObject) =>
  effect !== 'Deny' && (others !== undefined || JSON.stringify([principals]).includes('"*"'));

export const publicPolicy: Rule = {
  id: 'public-policy',
  refuses: 'A policy for everybody, or one that is not an object with statements',
  remedy: 'Name the principals.',
  *find({ resources }) {
    for (const resource of resources) {
      // Its policy restricts only requests from its own network.
      if (resource.Type === 'AWS::EC2::VPCEndpoint') continue;
      const root = resource.root;
      const entries = entriesWithin(root);
      yield* [root, ...entries].filter(({ value }) => isObject(value) && isForEverybody(value));
      yield* entries
        .filter(({ name }) => /^(\w*PolicyDocument|KeyPolicy|ResourcePolicy)$/.test(name))
        .flatMap(branchesOf)
        .filter(({ value }) => !(isObject(value) && 'Statement' in value));
    }
  },
};

/**
 * What may show more than this environment's metrics: another account's, contributors of log lines, and metric math that calls out.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 */
const isForeign = ({ name, value }: { readonly name: string; readonly value: unknown }) =>
  ['accountId', 'insightRule'].includes(name) ||
  (name === 'expression' && /\b(INSIGHT_RULE_METRIC|DB_PERF_INSIGHTS|LAMBDA)\s*\(/i.test(String(value)));

/**
 * CloudWatch's dashboards are global: "All dashboards in your account are global, not region-specific"
 * (https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudwatch-dashboard.html). One may
 * hold names of metrics and alarms of the environment's regions, and text of this repository; docs/decisions/residency-checks.md.
 */
export const cloudWatchDashboard: Rule = {
  id: 'cloudwatch-dashboard',
  refuses:
    'A CloudWatch dashboard, which is global, with more than metrics and alarms of a named region of the environment, and text',
  remedy:
    'Show metrics, alarms and text, each metric with its region; search log lines in the region itself.',
  *find(template) {
    for (const { logicalId, properties } of ofType(template, 'AWS::CloudWatch::Dashboard')) {
      for (const text of possibleTexts(properties.DashboardBody, template)) {
        const body = { logicalId, location: 'Properties.DashboardBody', value: parseObject(text) ?? text };
        yield* findInDashboard(body, template.boundary);
      }
    }
  },
};

function* findInDashboard(body: Finding, { residencyRegions }: ResidencyBoundary): Generator<Finding> {
  if (!isObject(body.value)) return yield body;
  // `variables` would list values of dimensions.
  const keys = ['start', 'end', 'periodOverride', 'widgets'];
  yield* Object.keys(body.value)
    .filter((key) => !keys.includes(key))
    .flatMap((key) => valuesAt(body, key));
  for (const widget of valuesAt(body, 'widgets.*')) {
    const [type] = valuesAt(widget, 'type') as [Finding];
    const [region] = valuesAt(widget, 'properties.region') as [Finding];
    // A log or chart widget would show log lines; a custom one, anything.
    if (!['alarm', 'metric', 'text'].includes(String(type.value))) yield type;
    if (type.value === 'metric' && !residencyRegions.includes(String(region.value))) yield region;
    yield* entriesWithin(widget).filter(isForeign);
  }
}
