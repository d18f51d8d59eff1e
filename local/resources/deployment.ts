import { createResolver, type ResourceValues, references } from '../assembly/intrinsics';
import type { Stack, TemplateResource } from '../assembly/manifest';
import { allSettledOrThrow } from '../cleanup';
import { LOCAL_ACCOUNT_ID } from '../names';

/** What a resource is on this machine. */
export interface LocalResource {
  /** What `Ref` gives. */
  readonly ref: string;
  /** What `Fn::GetAtt` gives. */
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** A resource to make on this machine; everything that it refers to is there already. */
export interface ResourceRequest {
  readonly logicalId: string;
  readonly type: string;
  /**
   * Each property is resolved when it is read, so that others may refer to what does not exist on this machine.
   *
   * @throws Error, when read, for a property without a value on this machine
   */
  readonly properties: Readonly<Record<string, unknown>>;
}

export type Provision = (request: ResourceRequest) => Promise<LocalResource>;

export interface DeploymentOptions {
  readonly stack: Pick<Stack, 'name' | 'region' | 'template'>;
  /** Makes each resource. */
  provision: Provision;
  secret: ResourceValues['secret'];
  /** Puts addresses on this machine in the place of those at AWS, in properties and outputs. @default - none */
  localize?<T>(value: T): T;
}

export interface DeployedStack {
  /** The resources whose condition holds, by logical id. */
  readonly resources: ReadonlyMap<string, LocalResource & ResourceRequest>;
  /** Resolves the stack's outputs. */
  outputs(): Record<string, string>;
}

/**
 * Makes a stack's resources, each as soon as those are there that it refers to or depends on.
 *
 * @throws the first error of a resource, when no other is being made any more
 */
export async function deployStack(options: DeploymentOptions): Promise<DeployedStack> {
  const { stack, provision, secret, localize = (value) => value } = options;
  const { template, name: stackName, region } = stack;
  const resources = new Map<string, LocalResource & ResourceRequest>();
  const resolver = createResolver({
    stackName,
    region,
    accountId: LOCAL_ACCOUNT_ID,
    template,
    resources: {
      ref: (id) => resources.get(id)?.ref,
      attribute: (id, name) => resources.get(id)?.attributes[name],
      secret,
    },
  });
  const resolve = (value: unknown, path: string) => localize(resolver.resolve(value, path));
  const isPresent = ([, { Condition }]: [string, { readonly Condition?: string }]) =>
    Condition === undefined || resolver.condition(Condition);
  const present = new Map(Object.entries(template.Resources).filter(isPresent));
  const begun = new Map<string, Promise<void>>();

  async function make(logicalId: string, resource: TemplateResource): Promise<void> {
    const dependencies = dependenciesOf(resource);
    await Promise.all([...present].filter(([id]) => dependencies.has(id)).map(makeOnce));
    const properties = {};
    for (const [name, value] of Object.entries(resource.Properties ?? {})) {
      const get = () => resolve(value, `Resources.${logicalId}.Properties.${name}`);
      Object.defineProperty(properties, name, { enumerable: true, get });
    }
    const request = { logicalId, type: resource.Type, properties };
    resources.set(logicalId, { ...request, ...(await provision(request)) });
  }

  function makeOnce([logicalId, resource]: [string, TemplateResource]): Promise<void> {
    const making = begun.get(logicalId) ?? make(logicalId, resource);
    begun.set(logicalId, making);
    return making;
  }

  await allSettledOrThrow([...present].map(makeOnce));

  return {
    resources,
    outputs: () =>
      Object.fromEntries(
        Object.entries(template.Outputs ?? {})
          .filter(isPresent)
          .map(([name, { Value }]) => [name, String(resolve(Value, `Outputs.${name}`))]),
      ),
  };
}

function dependenciesOf({ Properties, DependsOn = [] }: TemplateResource): ReadonlySet<string> {
  return new Set([...references(Properties), ...(typeof DependsOn === 'string' ? [DependsOn] : DependsOn)]);
}
