import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { readApi } from '../../../local/gateway/api';
import { type Gateway, openGateway } from '../../../local/gateway/server';
import { failed } from '../../../local/lambda/instance';

// biome-ignore lint/suspicious/noExplicitAny: tests read single fields of events and bodies
type Json = any;
type Resources = Record<
  string,
  { readonly Type: string; readonly Properties: Readonly<Record<string, unknown>> }
>;
/** A thrown error is a failed invocation. */
export type Behaviour = (event: Json) => unknown;

export const lambda = (name: string, more: object = {}) => ({
  Type: 'AWS_PROXY',
  Uri: `arn:aws:apigateway:eu-central-1:lambda:path/2015-03-31/functions/arn:aws:lambda:eu-central-1:000000000000:function:${name}/invocations`,
  ...more,
});

export const resource = (type: string, properties: object) => ({
  Type: `AWS::ApiGateway::${type}`,
  Properties: { RestApiId: 'Api', ...properties },
});

/** `GET /` */
export const root = (Integration: object, more: object = {}) => ({
  Root: resource('Method', {
    ...{ ResourceId: 'root', HttpMethod: 'GET', Integration, AuthorizationType: 'NONE' },
    ...more,
  }),
});

export const gatewayResponse = (ResponseType: string, StatusCode: string, body: string) =>
  resource('GatewayResponse', {
    ...{ ResponseType, StatusCode },
    ResponseParameters: { 'gatewayresponse.header.Content-Type': "'application/problem+json'" },
    ResponseTemplates: { 'application/json': body },
  });

/** `/groups/{id}` with a DELETE behind an authorizer and an open GET, both for the function `groups`. */
export const groups = (authorizer: object = {}, stage: object = {}): Resources => {
  const method = { ResourceId: 'Group', Integration: lambda('groups'), AuthorizationType: 'NONE' };
  const custom = { AuthorizationType: 'CUSTOM', AuthorizerId: 'Authorizer' };
  return {
    Api: { Type: 'AWS::ApiGateway::RestApi', Properties: {} },
    Groups: resource('Resource', { ParentId: 'root', PathPart: 'groups' }),
    Group: resource('Resource', { ParentId: 'Groups', PathPart: '{id}' }),
    Get: resource('Method', { ...method, HttpMethod: 'GET' }),
    Delete: resource('Method', { ...method, HttpMethod: 'DELETE', ...custom }),
    Authorizer: resource('Authorizer', {
      Type: 'REQUEST',
      IdentitySource: 'method.request.header.Authorization',
      AuthorizerUri: lambda('authorizer').Uri,
      AuthorizerResultTtlInSeconds: 60,
      ...authorizer,
    }),
    Stage: resource('Stage', { StageName: 'prod', ...stage }),
  };
};

/** Reads the API with logical ids as physical ids. */
export const read = (resources: Resources) =>
  readApi(
    new Map(
      Object.entries(resources).map(([logicalId, { Type: type, Properties: properties }]) => [
        logicalId,
        { logicalId, type, properties, ref: logicalId, attributes: {} },
      ]),
    ),
    'Api',
  );

const running: Gateway[] = [];
afterEach(() => Promise.all(running.splice(0).map((gateway) => gateway.close())));

/** A gateway for one test. `events` records its functions' events. */
export async function start(
  resources: Resources,
  functions: Readonly<Record<string, Behaviour>> = {},
  clock: () => number = Date.now,
) {
  const gateway = await openGateway(0);
  running.push(gateway);
  const events: Json[] = [];
  gateway.serve({
    api: read(resources),
    findFunction: (arn) => {
      const run = functions[arn.split(':').at(-1) ?? ''];
      if (!run) throw new Error(`no function ${arn}`);
      return {
        async invoke(event) {
          const copy = JSON.parse(JSON.stringify(event));
          events.push(copy);
          try {
            return { ok: true, payload: await run(copy) };
          } catch (error) {
            return failed((error as Error).name, (error as Error).message);
          }
        },
      };
    },
    region: 'eu-central-1',
    clock,
  });
  return { events, send: (path: string, options?: Options) => send(new URL(gateway.url), path, options) };
}

interface Options {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly json: Json;
}

/** Sends the path unchanged; `fetch` would normalize it. */
function send({ host, port }: URL, path: string, { method, headers, body }: Options = {}): Promise<Answer> {
  // Without a length, Node.js does not send the body of a GET.
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  const all = Object.entries({ host, ...length, ...headers }).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => [name, String(value)]),
  );
  const options = { port, host: '127.0.0.1', path, agent: false, headers: all, ...(method && { method }) };
  return new Promise((resolve, reject) => {
    httpRequest(options, async (incoming) => {
      const received = await text(incoming);
      const json = received.startsWith('{') ? JSON.parse(received) : undefined;
      resolve({ status: incoming.statusCode, headers: incoming.headers, body: received, json });
    })
      .once('error', reject)
      .end(body);
  });
}
