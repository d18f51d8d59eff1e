import {
  entriesWithin,
  type Finding,
  isObject,
  type JsonObject,
  type LocatedValue,
  objectAt,
  possibleTexts,
  type Resource,
  type Rule,
  referencesIn,
  rootOf,
  type Template,
  valuesAt,
} from './template';

const sections = ['Conditions', 'Description', 'Metadata', 'Outputs', 'Parameters', 'Resources', 'Rules'];
const functions = ['And', 'Equals', 'GetAtt', 'If', 'Join', 'Not', 'Or', 'Select', 'Split', 'Sub'];

/** Macros and mappings, which these checks do not read; imports and exports, which couple stacks. */
export const unreadable: Rule = {
  id: 'unreadable',
  refuses: 'A part of a template that these checks do not read, or a reference between stacks',
  remedy:
    'Make the resource in the stack that uses it, pass its name as configuration, and do without macros and mappings.',
  *find({ document, resources }) {
    for (const [location, value] of Object.entries(document)) {
      if (!sections.includes(location)) yield { location, value };
    }
    const roots: readonly Finding[] = [
      ...resources.map((resource) => ({ ...rootOf(resource), logicalId: resource.logicalId })),
      ...['Outputs', 'Conditions'].map((location) => ({ location, value: document[location] })),
    ];
    for (const root of roots) {
      for (const { name, location, value } of entriesWithin(root)) {
        const isUnread = name.startsWith('Fn::') && !functions.includes(name.slice('Fn::'.length));
        if (isUnread || (root.location === 'Outputs' && name === 'Export'))
          yield { ...root, location, value };
      }
    }
  },
};

/** With several regions, each member is in a separate stack, whose region is checked, as is the primary's ARN. */
export const globalDatabase: Rule = {
  id: 'global-database',
  refuses: 'A global database, in an environment whose data stays in one region',
  remedy: 'Use a cluster of the one region; its copies are in the other zones.',
  *find({ boundary, resources }) {
    if (boundary.residencyRegions.length > 1) return;
    for (const { logicalId, type, properties } of resources) {
      const { GlobalClusterIdentifier: value } = properties;
      if (type === 'AWS::RDS::GlobalCluster') yield { logicalId, location: 'Type', value: type };
      else if (value !== undefined) {
        yield { logicalId, location: 'Properties.GlobalClusterIdentifier', value };
      }
    }
  },
};

const ofType = ({ resources }: Template, ...types: readonly string[]): readonly Resource[] =>
  resources.filter(({ type }) => types.includes(type));

/** There may be fewer Elastic IPs, since an adopted one is not a resource of the stack. */
export const natCount: Rule = {
  id: 'nat-count',
  refuses:
    'Not the number of NAT gateways or addresses that the stack may have: one gateway if it serves, none in a standby',
  remedy: 'Send everything through the one webhook origin gateway, with the one address.',
  *find(template) {
    const { natGateways, elasticIps = natGateways } = template.boundary;
    const gateways = ofType(template, 'AWS::EC2::NatGateway');
    if (gateways.length < natGateways) {
      yield { location: 'Resources', value: `${gateways.length} NAT gateways` };
    }
    const addresses = ofType(template, 'AWS::EC2::EIP');
    for (const { logicalId, type } of [...gateways.slice(natGateways), ...addresses.slice(elasticIps)]) {
      yield { logicalId, location: 'Type', value: type };
    }
  },
};

/**
 * Receivers rely on the address: it is retained when its resource or stack is deleted. Nobody relies on that of a failed
 * first deployment (`RetainExceptOnCreate`).
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
 */
export const elasticIpRetained: Rule = {
  id: 'elastic-ip-not-retained',
  refuses: 'An Elastic IP that is released with its stack or its replacement',
  remedy: 'Set DeletionPolicy to Retain or RetainExceptOnCreate, and UpdateReplacePolicy to Retain.',
  *find(template) {
    for (const { logicalId, deletionPolicy, updateReplacePolicy } of ofType(template, 'AWS::EC2::EIP')) {
      if (!['Retain', 'RetainExceptOnCreate'].includes(String(deletionPolicy))) {
        yield { logicalId, location: 'DeletionPolicy', value: deletionPolicy };
      }
      if (updateReplacePolicy !== 'Retain') {
        yield { logicalId, location: 'UpdateReplacePolicy', value: updateReplacePolicy };
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

export const publicSubnet: Rule = {
  id: 'public-subnet',
  refuses: 'A resource other than the NAT gateway in a public subnet',
  remedy: 'Put it into the private or the isolated subnets.',
  *find(template) {
    const publicTables = ofType(template, 'AWS::EC2::Route')
      .filter(({ properties }) => properties.GatewayId !== undefined)
      .flatMap(({ properties }) => referencesIn(properties.RouteTableId));
    const subnets = ofType(template, 'AWS::EC2::SubnetRouteTableAssociation')
      .filter(({ properties }) =>
        referencesIn(properties.RouteTableId).some((id) => publicTables.includes(id)),
      )
      .flatMap(({ properties }) => referencesIn(properties.SubnetId));
    for (const { logicalId, type, properties } of template.resources) {
      if (allowedInPublic.includes(type)) continue;
      for (const [name, value] of Object.entries(properties)) {
        const subnet = referencesIn(value).find((id) => subnets.includes(id));
        if (subnet !== undefined) yield { logicalId, location: `Properties.${name}`, value: subnet };
      }
    }
  },
};

/**
 * Condition keys that restrict everybody to an account, an organization, a network or one resource. Not `aws:SourceIp`:
 * an address changes hands, and calls by way of AWS services have others.
 */
const narrowingKey =
  /^(aws:(source(arn|account|orgid|orgpaths|vpc|vpce|vpcarn)|principal(arn|account|orgid|orgpaths))|kms:calleraccount)$/i;

/** Operators that are true only if the key is present with one of the values. */
const narrowingOperator =
  /^(ForAnyValue:)?(StringEquals|StringEqualsIgnoreCase|StringLike|ArnEquals|ArnLike)$/i;

export const publicPolicy: Rule = {
  id: 'public-policy',
  refuses: 'A policy that allows everybody',
  remedy: 'Name the principals, or narrow them down by account, organization, network or source ARN.',
  *find(template) {
    for (const resource of template.resources) {
      const { logicalId, type, properties } = resource;
      // Its policy restricts only requests from its own network.
      if (type === 'AWS::EC2::VPCEndpoint') continue;
      if (type === 'AWS::Lambda::Permission' && properties.Principal === '*') {
        const { SourceArn, SourceAccount, PrincipalOrgID } = properties;
        if (![SourceArn, SourceAccount, PrincipalOrgID].some((value) => isNarrow(value, template))) {
          yield { logicalId, location: 'Properties.Principal', value: '*' };
        }
      }
      for (const { name, ...entry } of entriesWithin(rootOf(resource))) {
        // Rejects a document as a string, which the check would not parse.
        if (/^(\w*PolicyDocument|KeyPolicy|ResourcePolicy)$/.test(name) && !isObject(entry.value)) {
          yield { logicalId, ...entry };
        }
        if (name !== 'Statement') continue;
        for (const statement of valuesAt(entry, '*')) {
          if (isObject(statement.value) && isOpen(statement.value, template)) {
            yield { logicalId, ...statement };
          }
        }
      }
    }
  },
};

function isOpen(statement: JsonObject, template: Template): boolean {
  const { Effect: effect, Principal: principal, NotPrincipal: others } = statement;
  const principals = isObject(principal) ? [principal.AWS, principal.Federated].flat() : [principal];
  if (effect !== 'Allow' || (others === undefined && !principals.includes('*'))) return false;
  // All operators must be true, so one is enough.
  return !Object.entries(objectAt(statement, 'Condition'))
    .filter(([operator]) => narrowingOperator.test(operator))
    .flatMap(([, keys]) => Object.entries(isObject(keys) ? keys : {}))
    .some(([key, values]) => narrowingKey.test(key) && isNarrow(values, template));
}

/** ARNs of one account or of a named resource; otherwise text that is not only wildcards. */
function isNarrow(values: unknown, template: Template): boolean {
  const texts = [values].flat().flatMap((value) => possibleTexts(value, template));
  const isNarrowText = (text: string) => {
    const [prefix, , , , account = '', ...resource] = text.split(':');
    const name = prefix === 'arn' ? account || resource.join(':') : text;
    // Wildcards may follow what is named: `o-a1b2c3/*`, `bucket/*`.
    return /^[^*?]+(\/|$)/.test(name);
  };
  return texts.length > 0 && texts.every(isNarrowText);
}

/**
 * Another account's metrics, contributors of log lines, and functions of metric math that show what somebody else decides.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 */
const isForeign = (name: string, value: unknown) =>
  ['accountId', 'insightRule'].includes(name) ||
  (name === 'expression' && /\b(INSIGHT_RULE_METRIC|DB_PERF_INSIGHTS|LAMBDA)\s*\(/i.test(String(value)));

/**
 * Dashboards are global: "All dashboards in your account are global, not region-specific"
 * (https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudwatch-dashboard.html). One may
 * hold names of metrics and alarms of the environment's regions, and text of this repository; docs/decisions/residency-checks.md.
 */
export const dashboardContent: Rule = {
  id: 'dashboard-content',
  refuses:
    'A dashboard, which is global, with more than metrics and alarms of a named region of the environment, and text',
  remedy:
    'Show metrics, alarms and text, each metric with its region; search log lines in the region itself.',
  *find(template) {
    for (const { logicalId, properties } of ofType(template, 'AWS::CloudWatch::Dashboard')) {
      for (const text of possibleTexts(properties.DashboardBody, template)) {
        for (const found of findInDashboard(text, template)) yield { ...found, logicalId };
      }
    }
  },
};

function* findInDashboard(text: string, { boundary }: Template): Generator<LocatedValue> {
  const body = { location: 'Properties.DashboardBody', value: parse(text) };
  if (!isObject(body.value)) {
    yield { ...body, value: text };
    return;
  }
  for (const [key, value] of Object.entries(body.value)) {
    // `variables` would list values of dimensions.
    if (!['start', 'end', 'periodOverride', 'widgets'].includes(key)) {
      yield { location: `${body.location}.${key}`, value };
    }
  }
  for (const widget of valuesAt(body, 'widgets.*')) {
    const [type] = valuesAt(widget, 'type') as [LocatedValue];
    const [region] = valuesAt(widget, 'properties.region') as [LocatedValue];
    // A log or chart widget would show log lines; a custom one, anything.
    if (!['alarm', 'metric', 'text'].includes(String(type.value))) yield type;
    if (type.value === 'metric' && !boundary.residencyRegions.includes(String(region.value))) yield region;
    for (const { name, ...entry } of entriesWithin(widget)) if (isForeign(name, entry.value)) yield entry;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
