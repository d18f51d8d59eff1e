import { type LocatedValue, valuesAt } from '../located-values';
import { type Finding, findingAt, type Rule } from '../rule';
import { isObject, type JsonObject, type Resource, type Template } from '../template';
import { possibleTexts } from '../text';

/** What a console reads from the region itself, when somebody looks. A log or chart widget would show lines, a custom one anything. */
const widgets = ['alarm', 'metric', 'text'];

/** Without `variables`, which list values of dimensions. */
const parts = ['start', 'end', 'periodOverride', 'widgets'];

/** Another account's metrics; the contributors of log lines. */
const foreignKeys = ['accountId', 'insightRule'];

/**
 * Functions of metric math that show what somebody else decides: contributors are values of log lines, and a connector
 * may return anything. https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 */
const foreignData = /\b(INSIGHT_RULE_METRIC|DB_PERF_INSIGHTS|LAMBDA)\s*\(/i;

/**
 * Dashboards are global: "All dashboards in your account are global, not region-specific"
 * (https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudwatch-dashboard.html). One may
 * hold names of metrics and alarms of the environment's regions, and text of this repository; docs/decisions/alarms.md.
 */
export const dashboardContent: Rule = {
  id: 'dashboard-content',
  refuses:
    'A dashboard, which is global, with more than metrics and alarms of a named region of the environment, and text',
  remedy:
    'Show metrics, alarms and text, each metric with its region; search log lines in the region itself.',
  *find(template) {
    for (const resource of template.resources) {
      if (resource.type === 'AWS::CloudWatch::Dashboard') yield* findIn(resource, template);
    }
  },
};

function* findIn(resource: Resource, template: Template): Generator<Finding> {
  for (const text of possibleTexts(resource.properties.DashboardBody, template)) {
    const body: LocatedValue = { location: 'Properties.DashboardBody', value: parse(text) };
    const refused = isObject(body.value) ? placesIn(body, template) : [{ ...body, value: text }];
    for (const place of refused) yield findingAt(resource, place);
  }
}

function* placesIn(body: LocatedValue, { boundary }: Template): Generator<LocatedValue> {
  for (const [key, value] of Object.entries(body.value as JsonObject)) {
    if (!parts.includes(key)) yield { location: `${body.location}.${key}`, value };
  }
  for (const widget of valuesAt(body, 'widgets.*')) {
    const [type] = valuesAt(widget, 'type') as [LocatedValue];
    const [region] = valuesAt(widget, 'properties.region') as [LocatedValue];
    if (!widgets.includes(String(type.value))) yield type;
    if (type.value === 'metric' && !boundary.residencyRegions.includes(String(region.value))) yield region;
    yield* foreignIn(widget);
  }
}

/** At any depth: a metric has its options in an object at its end. */
function* foreignIn({ location, value }: LocatedValue): Generator<LocatedValue> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    const place = { location: `${location}.${name}`, value: item };
    const isForeign = name === 'expression' ? foreignData.test(String(item)) : foreignKeys.includes(name);
    if (isForeign) yield place;
    else yield* foreignIn(place);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
