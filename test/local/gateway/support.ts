import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { readApi } from '../../../local/gateway/model';
import { type Gateway, openGateway, type ServedApi } from '../../../local/gateway/server';
import type { LocalFunction } from '../../../local/lambda/function';
import type { InvocationResult } from '../../../local/lambda/instance';

interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}
export type Resources = Record<string, Resource>;
// biome-ignore lint/suspicious/noExplicitAny: events are looked into by the tests, field by field
type Event = any;
export type Behaviour = (event: Event) => unknown;

const functionArn = (name: string) => `arn:aws:lambda:eu-central-1:000000000000:function:${name}`;

/** A function whose code is in the test: an error that it throws becomes a failed invocation. */
export class FakeFunction implements Pick<LocalFunction, 'invoke'> {
  readonly events: Event[] = [];
  constructor(
    readonly name: string,
    private readonly behaviour: Behaviour,
  ) {}
  async invoke(event: unknown, options?: { signal?: AbortSignal }): Promise<InvocationResult> {
    const copy = JSON.parse(JSON.stringify(event));
    this.events.push(copy);
    const aborted = new Promise<InvocationResult>((resolve) => {
      options?.signal?.addEventListener('abort', () =>
        resolve({ ok: false, errorType: 'AbortError', errorMessage: 'The caller no longer waits' }),
      );
    });
    return Promise.race([this.run(copy), aborted]);
  }
  private async run(event: Event): Promise<InvocationResult> {
    try {
      return { ok: true, payload: await this.behaviour(event) };
    } catch (error) {
      const { name, message } = error as Error;
      return { ok: false, errorType: name, errorMessage: message };
    }
  }
}

export const lambda = (name: string, more: object = {}) => ({
  Type: 'AWS_PROXY',
  IntegrationHttpMethod: 'POST',
  Uri: `arn:aws:apigateway:eu-central-1:lambda:path/2015-03-01/functions/${functionArn(name)}/invocations`,
  ...more,
});

export const resource = (type: string, properties: object): Resource => ({
  Type: `AWS::ApiGateway::${type}`,
  Properties: { RestApiId: 'Api', ...properties },
});

export const method = (resourceId: string, httpMethod: string, integration: object, more: object = {}) =>
  resource('Method', { ResourceId: resourceId, HttpMethod: httpMethod, Integration: integration, ...more });

export const stage = (more: object = {}) => resource('Stage', { StageName: 'prod', ...more });

export const gatewayResponse = (type: string, status: string, more: object = {}) =>
  resource('GatewayResponse', {
    ResponseType: type,
    StatusCode: status,
    ResponseParameters: { 'gatewayresponse.header.Content-Type': "'application/problem+json'" },
    ResponseTemplates: {
      'application/json': `{"code":"${type}","requestId":"$context.extendedRequestId","unset":"$context.authorizer.absent"}`,
    },
    ...more,
  });

/** `/groups/{id}` with a DELETE behind an authorizer and an open GET. */
export const groups = (authorizer: object = {}): Resources => ({
  Api: resource('RestApi', { Name: 'test' }),
  Groups: resource('Resource', { ParentId: 'root', PathPart: 'groups' }),
  Group: resource('Resource', { ParentId: 'Groups', PathPart: '{id}' }),
  Get: method('Group', 'GET', lambda('groups')),
  Delete: method('Group', 'DELETE', lambda('groups'), {
    AuthorizationType: 'CUSTOM',
    AuthorizerId: 'Authorizer',
  }),
  Authorizer: resource('Authorizer', {
    Type: 'REQUEST',
    IdentitySource: 'method.request.header.Authorization',
    AuthorizerUri: lambda('authorizer').Uri,
    AuthorizerResultTtlInSeconds: 60,
    ...authorizer,
  }),
  Stage: stage(),
});

const running: Gateway[] = [];

/** Resources as they would be deployed: the physical id is the logical one. */
export const deployed = (resources: Resources) =>
  new Map(
    Object.entries(resources).map(([logicalId, { Type: type, Properties: properties = {} }]) => [
      logicalId,
      { logicalId, type, properties, ref: logicalId, attributes: {} },
    ]),
  );

export async function start(
  resources: Resources,
  functions: readonly FakeFunction[] = [],
  { port = 0, ...more }: Partial<ServedApi> & { readonly port?: number } = {},
): Promise<Gateway> {
  const api = readApi(deployed(resources), 'Api');
  const gateway = await openGateway(port);
  running.push(gateway);
  gateway.serve({
    api,
    findFunction: (arn) => {
      const found = functions.find(({ name }) => functionArn(name) === arn);
      if (!found) throw new Error(`no function ${arn}`);
      return found;
    },
    region: 'eu-central-1',
    ...more,
  });
  return gateway;
}

export const portOf = ({ url }: Gateway): number => Number(new URL(url).port);

export async function stopAll(): Promise<void> {
  await Promise.all(running.splice(0).map((gateway) => gateway.close()));
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked into by the tests, field by field
  readonly json: any;
}

/** Sends the path as it is: `fetch` would tidy it up first. */
export function send(
  gateway: Gateway,
  httpMethod: string,
  path: string,
  headers: Record<string, string | string[]> = {},
  body?: string | Buffer,
): Promise<Answer> {
  // Node.js frames the body of a GET or DELETE only when told to.
  const framed =
    body === undefined || 'transfer-encoding' in headers
      ? headers
      : { ...headers, 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      { host: '127.0.0.1', port: portOf(gateway), method: httpMethod, path, headers: framed, agent: false },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk) => chunks.push(chunk));
        incoming.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          const json = text.startsWith('{') ? JSON.parse(text) : undefined;
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: text, json });
        });
      },
    );
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

/** The open method of `groups`. */
export const get = (gateway: Gateway) => send(gateway, 'GET', '/groups/a');

/** Sends bytes as they are and gives what comes back until the connection ends. */
export function sendRaw(gateway: Gateway, text: string, keepOpen = false): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(portOf(gateway), '127.0.0.1', () => {
      socket.write(text, 'latin1');
      if (!keepOpen) socket.end();
    });
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    socket.once('close', () => resolve(received));
    socket.once('error', reject);
  });
}

export const allow = (event: Event, context: object = {}) => ({
  principalId: 'us-1',
  policyDocument: {
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Action: 'execute-api:Invoke', Resource: event.methodArn }],
  },
  context,
});
