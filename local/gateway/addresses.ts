import type { Stack, Template, TemplateResource } from '../assembly/manifest';
import { physicalName } from '../names';
import { type Gateway, openGateway } from './server';

type ServedStack = Pick<Stack, 'name' | 'region' | 'template'>;

/** The addresses of a stack's REST APIs on this machine and at AWS. */
export interface ApiAddresses {
  /** By the logical id of the API. */
  readonly gateways: ReadonlyMap<string, Gateway>;
  /** Address on this machine by the name of the API's stage. */
  readonly urls: Readonly<Record<string, string>>;
  /** Replaces the addresses at AWS by those on this machine, anywhere in a value. */
  localize<T>(value: T): T;
  close(): Promise<void>;
}

/**
 * Opens a port for each REST API of a stack before any resource is created: functions and other APIs need the address.
 *
 * @param portOf the port by the name of the API's stage; 0 for any free one
 * @throws (rejects) with the code EADDRINUSE when a port is taken
 */
export async function openApiAddresses(
  stack: ServedStack,
  portOf: (stageName: string) => number,
): Promise<ApiAddresses> {
  const gateways = new Map<string, Gateway>();
  const urls: Record<string, string> = {};
  const replacements: (readonly [deployed: string, local: string])[] = [];
  const close = async () => void (await Promise.all([...gateways.values()].map((each) => each.close())));
  try {
    for (const [id] of ofType(stack.template, 'RestApi')) {
      const { stageName, deployed } = deployedAddresses(stack, id);
      const gateway = await openGateway(portOf(stageName));
      gateways.set(id, gateway);
      urls[stageName] = gateway.url;
      replacements.push(...deployed.map((address) => [address, gateway.url] as const));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { gateways, urls, close, localize: (value) => localize(value, replacements) };
}

/** The addresses of an API at AWS; a longer one comes before its own prefix. */
function deployedAddresses(stack: ServedStack, id: string) {
  const { template } = stack;
  const isOfApi = ([, { Properties }]: Entry) => (Properties?.RestApiId as Reference | undefined)?.Ref === id;
  const stageName = String(ofType(template, 'Stage').find(isOfApi)?.[1].Properties?.StageName);
  const origin = `https://${physicalName(stack, id)}.execute-api.${stack.region}.amazonaws.com`;
  const domains = ofType(template, 'BasePathMapping')
    .filter(isOfApi)
    .map(([, { Properties }]) => `https://${domainName(template, Properties?.DomainName)}`);
  return { stageName, deployed: [`${origin}/${stageName}`, origin, ...domains] };
}

/** A domain name, given as text or as the `Ref` of its resource. */
function domainName(template: Template, value: unknown): unknown {
  const { Ref: resource } = (value ?? {}) as Reference;
  return resource ? template.Resources[resource]?.Properties?.DomainName : value;
}

type Entry = readonly [logicalId: string, resource: TemplateResource];
interface Reference {
  readonly Ref?: string;
}

function ofType(template: Template, type: string): Entry[] {
  return Object.entries(template.Resources).filter(([, { Type }]) => Type === `AWS::ApiGateway::${type}`);
}

function localize<T>(value: T, replacements: readonly (readonly [string, string])[]): T {
  if (typeof value === 'string')
    return replacements.reduce<string>((text, [from, to]) => text.replaceAll(from, to), value) as T;
  if (Array.isArray(value)) return value.map((each) => localize(each, replacements)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, localize(each, replacements)]),
  ) as T;
}
