import { allSettledOrThrow } from '../cleanup';
import { LOCAL_ACCOUNT_ID } from '../function-runtime/environment';
import type { Stack, TemplateResource } from './assembly';
import type { SecretReference } from './dynamic-references';
import { createResolver, type TemplateResolver } from './intrinsics';
import { references } from './references';

/** What a resource is on this machine. */
export interface LocalResource {
  /** What `Ref` gives. */
  readonly ref: string;
  /** What `Fn::GetAtt` gives. */
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** A resource that is to be made on this machine; everything that it refers to is there already. */
export interface ResourceRequest {
  readonly logicalId: string;
  readonly type: string;
  /**
   * Resolves properties of the resource.
   *
   * @param names those that are wanted: others may speak of what does not exist on this machine. @default - all
   * @throws UnresolvableValue when something in them has no value on this machine
   */
  properties(names?: readonly string[]): Readonly<Record<string, unknown>>;
}

/** Makes resources of one type. */
export type Provision = (request: ResourceRequest) => Promise<LocalResource>;

export interface DeploymentOptions {
  readonly stack: Stack;
  /** What makes the resources of a type. */
  provisionOf(type: string): Provision;
  secret(reference: SecretReference): string | undefined;
  /** Values of the stack's parameters. @default - each parameter's own default */
  readonly parameters?: Readonly<Record<string, string>>;
}

export interface DeployedStack {
  readonly resolver: TemplateResolver;
  /** The resources whose condition holds, by logical id. */
  readonly resources: ReadonlyMap<string, LocalResource>;
  /** Resolves the stack's outputs. */
  outputs(): Record<string, string>;
}

/**
 * Makes a stack's resources, each as soon as those are there that it refers to or depends on.
 *
 * @throws the first error of a resource, when no other is being made any more
 */
export async function deployStack(options: DeploymentOptions): Promise<DeployedStack> {
  const { stack, provisionOf } = options;
  const { template, name: stackName, region } = stack;
  const resources = new Map<string, LocalResource>();
  const resolver = createResolver({
    stackName,
    region,
    accountId: LOCAL_ACCOUNT_ID,
    template,
    ...(options.parameters ? { parameters: options.parameters } : {}),
    resources: {
      ref: (id) => resources.get(id)?.ref,
      attribute: (id, name) => resources.get(id)?.attributes[name],
      secret: options.secret,
    },
  });
  const present = Object.fromEntries(
    Object.entries(template.Resources).filter(
      ([, { Condition }]) => Condition === undefined || resolver.condition(Condition),
    ),
  );
  const begun = new Map<string, Promise<void>>();

  function make(logicalId: string): Promise<void> {
    const known = begun.get(logicalId);
    if (known) return known;
    const making = makeAfterDependencies(logicalId, present[logicalId] as TemplateResource);
    begun.set(logicalId, making);
    return making;
  }

  async function makeAfterDependencies(logicalId: string, resource: TemplateResource): Promise<void> {
    const { Type: type, Properties = {} } = resource;
    await Promise.all(
      dependenciesOf(resource)
        .filter((id) => Object.hasOwn(present, id))
        .map(make),
    );
    const properties = (names = Object.keys(Properties)) =>
      Object.fromEntries(
        names
          .filter((name) => Object.hasOwn(Properties, name))
          .map((name) => [
            name,
            resolver.resolve(Properties[name], `Resources.${logicalId}.Properties.${name}`),
          ]),
      );
    resources.set(logicalId, await provisionOf(type)({ logicalId, type, properties }));
  }

  await allSettledOrThrow(Object.keys(present).map(make));

  return {
    resolver,
    resources,
    outputs: () =>
      Object.fromEntries(
        Object.entries(template.Outputs ?? {})
          .filter(([, { Condition }]) => Condition === undefined || resolver.condition(Condition))
          .map(([name, { Value }]) => [name, String(resolver.resolve(Value, `Outputs.${name}`))]),
      ),
  };
}

function dependenciesOf({ Properties, DependsOn = [] }: TemplateResource): string[] {
  return [
    ...new Set([...references(Properties), ...(typeof DependsOn === 'string' ? [DependsOn] : DependsOn)]),
  ];
}
