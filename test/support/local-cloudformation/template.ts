// biome-ignore lint/suspicious/noExplicitAny: a template's JSON is as free as this
export type Json = any;

/** A resource as the template wants it under certain parameters: conditions are decided, references still stand. */
export interface WantedResource {
  readonly logicalId: string;
  readonly type: string;
  readonly properties: Json;
  /** Logical ids of what must exist first. */
  readonly after: readonly string[];
  /** Whether it outlives its stack. */
  readonly retained: boolean;
}

export type Parameters = Readonly<Record<string, string>>;

/**
 * What CloudFormation makes of a template's parameters, conditions and references.
 *
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-conditions.html
 */
export class Template {
  constructor(private readonly json: Json) {}

  get parameters(): Readonly<Record<string, { Default?: string; AllowedValues?: readonly string[] }>> {
    return this.json.Parameters;
  }

  get outputs(): Readonly<Record<string, { Value: Json }>> {
    return this.json.Outputs;
  }

  get needsIamCapability(): boolean {
    return Object.values<Json>(this.json.Resources).some(({ Type }) => Type.startsWith('AWS::IAM::'));
  }

  /** In an order in which everything comes after what it needs. */
  resources(parameters: Parameters): readonly WantedResource[] {
    const wanted = new Map<string, WantedResource>();
    for (const [logicalId, resource] of Object.entries<Json>(this.json.Resources)) {
      if (resource.Condition && !this.holds({ Condition: resource.Condition }, parameters)) continue;
      const properties = this.decide(resource.Properties ?? {}, parameters);
      const dependsOn = [resource.DependsOn ?? []].flat();
      const after = [...new Set([...dependsOn, ...referencesIn(properties)])];
      const retained = resource.DeletionPolicy === 'Retain';
      wanted.set(logicalId, { logicalId, type: resource.Type, properties, after, retained });
    }
    return inOrder(wanted);
  }

  private holds(condition: Json, parameters: Parameters): boolean {
    if (condition.Condition) return this.holds(this.json.Conditions[condition.Condition], parameters);
    if (condition['Fn::Not']) return !this.holds(condition['Fn::Not'][0], parameters);
    if (condition['Fn::And']) return condition['Fn::And'].every((one: Json) => this.holds(one, parameters));
    if (condition['Fn::Or']) return condition['Fn::Or'].some((one: Json) => this.holds(one, parameters));
    const [left, right] = condition['Fn::Equals'].map((side: Json) => parameters[side.Ref] ?? side);
    return left === right;
  }

  private decide(value: Json, parameters: Parameters): Json {
    if (Array.isArray(value)) return value.map((item) => this.decide(item, parameters));
    if (typeof value !== 'object' || value === null) return value;
    if (value['Fn::If']) {
      const [name, yes, no] = value['Fn::If'];
      return this.decide(this.holds({ Condition: name }, parameters) ? yes : no, parameters);
    }
    return Object.fromEntries(
      Object.entries(value)
        .map(([key, inner]) => [key, this.decide(inner, parameters)])
        .filter(([, inner]) => inner?.Ref !== 'AWS::NoValue'),
    );
  }
}

/** Replaces each reference by what `refer` says of it; other functions stay as they are. */
export function resolve(value: Json, refer: (logicalId: string, attribute?: string) => Json): Json {
  if (Array.isArray(value)) return value.map((item) => resolve(item, refer));
  if (typeof value !== 'object' || value === null) return value;
  if (typeof value.Ref === 'string') return refer(value.Ref) ?? value;
  if (value['Fn::GetAtt']) return refer(...(value['Fn::GetAtt'] as [string, string])) ?? value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner, refer)]));
}

function referencesIn(value: Json): string[] {
  const found: string[] = [];
  resolve(value, (logicalId) => void found.push(logicalId));
  return found;
}

function inOrder(wanted: ReadonlyMap<string, WantedResource>): readonly WantedResource[] {
  const ordered = new Set<WantedResource>();
  const visit = (logicalId: string): void => {
    const resource = wanted.get(logicalId);
    if (!resource || ordered.has(resource)) return;
    for (const needed of resource.after) visit(needed);
    ordered.add(resource);
  };
  for (const logicalId of wanted.keys()) visit(logicalId);
  return [...ordered];
}
