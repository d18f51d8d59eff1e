import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { TemplateObject } from '../../../domain/assembly';
import { physicalName, type Stack } from '../../assembly/manifest';
import type { Cleanup } from '../../shared/cleanup';
import { hasOwnHost, type LoopbackServer, listen } from '../../shared/loopback-server';
import type { Api, FindFunction } from './api';
import { Fault, newContext, readRequest } from './request';
import { createRespond, renderFault } from './respond';

/**
 * Opens a gateway for each REST API of a stack before its resources are created: they need the addresses.
 *
 * @param portOf returns the port for an API's stage; 0: any free one
 * @throws (rejects) StartError if a port is in use
 */
export async function openApis(
  stack: Pick<Stack, 'name' | 'region' | 'template'>,
  portOf: (stageName: string) => number,
  cleanup: Cleanup,
) {
  /** Keyed by the API's logical id. */
  const gateways = new Map<string, Gateway>();
  /** Keyed by the name of the API's stage. */
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
    gateways,
    urls,
    /** Replaces AWS addresses with local ones, anywhere in a JSON value. */
    localize<T>(value: T): T {
      const json = JSON.stringify(value) as string | undefined;
      if (json === undefined) return value;
      return JSON.parse(replacements.reduce((text, [from, to]) => text.replaceAll(from, to), json));
    },
  };
}

/** A REST API and its dependencies. */
interface ServedApi {
  readonly api: Api;
  readonly findFunction: FindFunction;
  readonly region: string;
  /** The address from which all requests seem to come, as through a NAT gateway. @default - the connection's */
  readonly sourceIp?: string | undefined;
  /** Milliseconds since 1970. @default Date.now */
  readonly clock?: () => number;
}

/** A gateway on 127.0.0.1 that emulates API Gateway for a regional REST API; differences: docs/operating.md. */
export interface Gateway extends LoopbackServer {
  /** Serves the API; earlier requests wait for this call. Call once. */
  serve(served: ServedApi): void;
}

type Handle = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/**
 * Opens the port of an API before its resources are created: they may contain its address.
 *
 * @param port 0: any free one
 * @throws (rejects) StartError if the port is in use
 */
export async function openGateway(port: number): Promise<Gateway> {
  let serve: (handle: Handle) => void = () => undefined;
  const served = new Promise<Handle>((resolve) => (serve = resolve));
  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
    // A client that disconnected, or a bug.
    served.then((handle) => handle(incoming, outgoing)).catch(() => outgoing.destroy());
  });
  return { ...(await listen(server, port)), serve: (api) => serve(createHandle(api)) };
}

function createHandle({ api, findFunction, region, sourceIp, clock = Date.now }: ServedApi): Handle {
  const respond = createRespond(api, findFunction, clock);
  return async (incoming, outgoing) => {
    const context = newContext(incoming, sourceIp);
    async function reply() {
      if (!hasOwnHost(incoming)) {
        incoming.resume();
        throw new Fault('DEFAULT_4XX', 403, 'Forbidden');
      }
      return respond(await readRequest(incoming, api, context, region));
    }
    const { status, headers, body } = await reply().catch((error: Error) => {
      // The client disconnected while sending.
      if (incoming.errored) throw error;
      const fault = error instanceof Fault ? error : new Fault('DEFAULT_5XX', 500, 'Internal server error');
      return renderFault(fault, api, context);
    });
    outgoing.statusCode = status;
    for (const [name, value] of headers) outgoing.appendHeader(name, value);
    outgoing.setHeader('x-amzn-RequestId', context.requestId);
    outgoing.setHeader('x-amz-apigw-id', context.extendedRequestId);
    outgoing.end(body);
  };
}
