import { physicalName, type Stack, type TemplateObject } from '../../assembly/manifest';
import type { Cleanup } from '../../cleanup';
import { type Gateway, openGateway } from './gateway';

/** The local and AWS addresses of a stack's REST APIs. */
export type ApiAddresses = Awaited<ReturnType<typeof openApiAddresses>>;

/**
 * Opens a port for each REST API of a stack before its resources are created: they need the addresses.
 *
 * @param portOf returns the port for an API's stage; 0: any free one
 * @throws (rejects) with the code EADDRINUSE if a port is in use
 */
export async function openApiAddresses(
  stack: Pick<Stack, 'name' | 'region' | 'template'>,
  portOf: (stageName: string) => number,
  cleanup: Cleanup,
) {
  /** By the logical id of the API. */
  const gateways = new Map<string, Gateway>();
  /** By the name of the API's stage. */
  const urls: Record<string, string> = {};
  const replacements: (readonly [deployed: string, local: string])[] = [];
  const ofType = (type: string) =>
    Object.entries(stack.template.Resources)
      .filter(([, { Type }]) => Type === `AWS::ApiGateway::${type}`)
      .map(([id, { Properties }]): TemplateObject => ({ id, ...Properties }));
  for (const { id } of ofType('RestApi')) {
    const isOfApi = ({ RestApiId }: TemplateObject) => RestApiId?.Ref === id;
    const stageName = ofType('Stage').find(isOfApi)?.StageName;
    const gateway = await openGateway(portOf(stageName));
    cleanup.add(gateway.close);
    gateways.set(id, gateway);
    urls[stageName] = gateway.url;
    const origin = `https://${physicalName(stack, id)}.execute-api.${stack.region}.amazonaws.com`;
    const domains = ofType('BasePathMapping')
      .filter(isOfApi)
      .map((mapping) => ofType('DomainName').find((each) => each.id === mapping.DomainName.Ref))
      .map((domain) => `https://${domain?.DomainName}`);
    // Longest first: one address is a prefix of another.
    for (const deployed of [`${origin}/${stageName}`, origin, ...domains]) {
      replacements.push([deployed, gateway.url]);
    }
  }
  return {
    ...{ gateways, urls },
    /** Replaces AWS addresses with local ones, anywhere in a JSON value. */
    localize<T>(value: T): T {
      const json = JSON.stringify(value) as string | undefined;
      if (json === undefined) return value;
      return JSON.parse(replacements.reduce((text, [from, to]) => text.replaceAll(from, to), json));
    },
  };
}
