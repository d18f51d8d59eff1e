import { createResolver, references } from '../../assembly/intrinsics';
import type { Stack } from '../../assembly/manifest';
import { allSettledOrThrow } from '../../shared/cleanup';
import type { DeployedResource, LocalResource, ResourceRequest } from '../resource';

/**
 * Creates a stack's resources, each once its references and dependencies exist.
 *
 * @param localize replaces AWS addresses with local ones, in properties and outputs
 * @returns the resources whose condition is true, by logical id, and the outputs
 * @throws the first error, once no other resource is being created
 */
export async function deployStack(
  { template, name: stackName, region }: Pick<Stack, 'name' | 'region' | 'template'>,
  create: (request: ResourceRequest) => LocalResource | Promise<LocalResource>,
  secret: (secretArn: string) => string | undefined = () => undefined,
  localize: <T>(value: T) => T = (value) => value,
) {
  const resources = new Map<string, DeployedResource>();
  const resolver = createResolver({
    stackName,
    region,
    template,
    resources: {
      ref: (id) => resources.get(id)?.ref,
      attribute: (id, name) => resources.get(id)?.attributes[name],
      secret,
    },
  });
  const resolve = (value: unknown, path: string) => localize(resolver.resolve(value, path));
  const present = <T extends { readonly Condition?: string }>(all: Readonly<Record<string, T>>) =>
    Object.entries(all).filter(([, { Condition }]) => !Condition || resolver.condition(Condition));
  const definitions = new Map(present(template.Resources));
  const started = new Map<string, Promise<unknown>>();

  async function createAfterDependencies(logicalId: string): Promise<void> {
    const { Type: type, Properties = {}, DependsOn = [] } = definitions.get(logicalId) ?? { Type: '' };
    const dependencies = [...references(Properties), ...[DependsOn].flat()];
    await Promise.all(dependencies.filter((id) => definitions.has(id)).map(createOnce));
    const properties = {};
    for (const [name, value] of Object.entries(Properties)) {
      const get = () => resolve(value, `Resources.${logicalId}.Properties.${name}`);
      Object.defineProperty(properties, name, { enumerable: true, get });
    }
    const request = { logicalId, type, properties };
    resources.set(logicalId, { ...request, ...(await create(request)) });
  }

  function createOnce(logicalId: string): Promise<unknown> {
    const creation = started.get(logicalId) ?? createAfterDependencies(logicalId);
    started.set(logicalId, creation);
    return creation;
  }

  await allSettledOrThrow([...definitions.keys()].map(createOnce));
  const outputs = present(template.Outputs ?? {}).map(
    ([name, { Value }]) => [name, String(resolve(Value, `Outputs.${name}`))] as const,
  );
  return { resources, outputs: Object.fromEntries(outputs) };
}
