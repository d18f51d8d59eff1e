import { entriesWithin, isObject, type LocatedValue, type Rule, type Template } from './template';
import { possibleTexts, valuesAt } from './texts';

/** What a console reads from the region itself, when somebody looks. A log or chart widget would show lines, a custom one anything. */
const widgets = ['alarm', 'metric', 'text'];

/** Without `variables`, which list values of dimensions. */
const parts = ['start', 'end', 'periodOverride', 'widgets'];

/**
 * Another account's metrics, contributors of log lines, and functions of metric math that show what somebody else decides: a
 * connector may return anything.
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
    for (const { type, logicalId, properties } of template.resources) {
      if (type !== 'AWS::CloudWatch::Dashboard') continue;
      for (const text of possibleTexts(properties.DashboardBody, template)) {
        for (const place of placesIn(text, template)) yield { ...place, logicalId };
      }
    }
  },
};

function* placesIn(text: string, { boundary }: Template): Generator<LocatedValue> {
  const body = { location: 'Properties.DashboardBody', value: parse(text) };
  if (!isObject(body.value)) {
    yield { ...body, value: text };
    return;
  }
  for (const [key, value] of Object.entries(body.value)) {
    if (!parts.includes(key)) yield { location: `${body.location}.${key}`, value };
  }
  for (const widget of valuesAt(body, 'widgets.*')) {
    const [type] = valuesAt(widget, 'type') as [LocatedValue];
    const [region] = valuesAt(widget, 'properties.region') as [LocatedValue];
    if (!widgets.includes(String(type.value))) yield type;
    if (type.value === 'metric' && !boundary.residencyRegions.includes(String(region.value))) yield region;
    for (const { name, ...place } of entriesWithin(widget)) if (isForeign(name, place.value)) yield place;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
