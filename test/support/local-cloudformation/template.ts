import { createResolver, type TemplateResolver } from '../../../local/template/intrinsics';
import { references } from '../../../local/template/references';

// biome-ignore lint/suspicious/noExplicitAny: a template's JSON is as free as this
export type Json = any;

/** A resource that a template has under certain parameters. */
export interface WantedResource {
  readonly logicalId: string;
  readonly type: string;
  /** With conditions and references as the template has them. */
  readonly properties: Json;
  /** Whether it outlives its stack. */
  readonly retained: boolean;
}

export type Parameters = Readonly<Record<string, string>>;

/** A physical id, or an attribute, of a resource. */
export type Refer = (logicalId: string, attribute?: string) => string | undefined;

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
    const { condition } = this.resolver(parameters, () => undefined);
    const ordered = new Map<string, WantedResource>();
    const visit = (logicalId: string): void => {
      const resource = this.json.Resources[logicalId];
      if (!resource || ordered.has(logicalId)) return;
      if (resource.Condition && !condition(resource.Condition)) return;
      const { Type: type, Properties: properties = {}, DependsOn = [], DeletionPolicy } = resource;
      for (const needed of [DependsOn, ...references(properties)].flat()) visit(needed);
      ordered.set(logicalId, { logicalId, type, properties, retained: DeletionPolicy === 'Retain' });
    };
    for (const logicalId of Object.keys(this.json.Resources)) visit(logicalId);
    return [...ordered.values()];
  }

  resolver(parameters: Parameters, refer: Refer): TemplateResolver {
    const given = Object.entries(this.parameters).map(([name, declared]) => [
      name,
      { ...declared, Default: parameters[name] },
    ]);
    return createResolver({
      stackName: 'stack',
      region: 'eu-central-1',
      accountId: '000000000000',
      template: { ...this.json, Parameters: Object.fromEntries(given) },
      resources: { ref: refer, attribute: refer, secret: ({ text }) => text },
    });
  }
}
