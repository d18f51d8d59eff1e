import type { StackTemplate } from './stacks';

// biome-ignore lint/suspicious/noExplicitAny: options of a metric have no types
type Json = any;

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html */
export interface DashboardBody {
  readonly start: string;
  readonly widgets: readonly Widget[];
}

export interface Widget {
  readonly type: 'alarm' | 'metric' | 'text';
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly properties: {
    readonly title?: string;
    readonly markdown?: string;
    readonly alarms?: readonly string[];
    readonly region?: string;
    readonly metrics?: readonly (readonly Json[])[];
    readonly annotations?: {
      readonly horizontal: readonly { readonly label: string; readonly value: number }[];
    };
    readonly yAxis?: { readonly left: { readonly label: string } };
  };
}

/** The content of a stack's monitoring dashboard; resources are named as in the tables of alarms. */
export function dashboardOf(stack: StackTemplate): DashboardBody {
  const pieces: Json[] = stack.json.Resources.MonitoringDashboard.Properties.DashboardBody['Fn::Join'][1];
  const known: Record<string, string> = {
    'AWS::Region': stack.environment.region,
    'AWS::AccountId': '123456789012',
  };
  return JSON.parse(
    pieces
      .map((piece) => (typeof piece === 'string' ? piece : (known[piece.Ref] ?? resourceOrText(piece))))
      .join(''),
  );
}

/** A resource is named without the hash of its logical id. */
export function resourceOrText(value: Json): string {
  if (typeof value === 'string') return value;
  const [logicalId, attribute] = value['Fn::GetAtt'] ?? [value.Ref];
  const name = logicalId.replace(/[0-9A-F]{8}$/, '');
  return attribute ? `{${name}.${attribute}}` : `{${name}}`;
}
