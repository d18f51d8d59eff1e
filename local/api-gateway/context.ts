import { randomBytes, randomUUID } from 'node:crypto';
import { LOCAL_ACCOUNT_ID } from '../function-runtime/environment';
import type { RestApiModel } from './model';
import { type GatewayRequest, headerOf } from './request';

type Fields = Record<string, unknown>;

/**
 * The `$context` variables of one request; also the `requestContext` of the events. Each step adds its own.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html
 */
export interface GatewayContext extends Fields {
  readonly requestId: string;
  /** Unique, and never from the client; also in the header `x-amz-apigw-id`. */
  readonly extendedRequestId: string;
  authorizer?: Fields;
}

/** What mapping expressions refer to. */
export interface MappingSources {
  readonly model: RestApiModel;
  readonly context: GatewayContext;
  /** `undefined` when the client sent none that could be read. */
  readonly request: GatewayRequest | undefined;
}

export function newContext(model: RestApiModel, now: Date): GatewayContext {
  return {
    accountId: LOCAL_ACCOUNT_ID,
    apiId: model.apiId,
    stage: model.stageName,
    deploymentId: 'local',
    requestId: randomUUID(),
    extendedRequestId: `${randomBytes(11).toString('base64url')}=`,
    requestTime: commonLogTime(now),
    requestTimeEpoch: now.getTime(),
  };
}

export function describeRequest(context: GatewayContext, request: GatewayRequest): void {
  const domainName = (headerOf(request, 'host') ?? '127.0.0.1').replace(/:\d*$/, '');
  Object.assign(context, {
    httpMethod: request.httpMethod,
    path: request.target.path,
    protocol: request.protocol,
    domainName,
    domainPrefix: domainName.split('.')[0],
    identity: {
      sourceIp: request.sourceIp,
      userAgent: headerOf(request, 'user-agent') ?? null,
      accessKey: null,
      accountId: null,
      caller: null,
      user: null,
      userArn: null,
    },
  });
}

/** Replaces `$context.…` variables by their values, without escaping, as the gateway does; an unset one is empty. */
export function render(template: string, context: GatewayContext): string {
  return template.replace(
    /\$context((?:\.\w+)+)/g,
    (_, path: string) => contextValue(context, path.slice(1)) ?? '',
  );
}

/** The value of a variable such as `authorizer.code`, as text. */
function contextValue(context: GatewayContext, path: string): string | undefined {
  let value: unknown = context;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Fields)[name];
  }
  return value === undefined || value === null || typeof value === 'object' ? undefined : String(value);
}

/**
 * The value of a mapping expression: `'a literal'`, `context.…`, `method.request.…` or `stageVariables.…`.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/request-response-data-mappings.html
 */
export function mappedValue(
  expression: string,
  { model, context, request }: MappingSources,
): string | undefined {
  const literal = /^'(.*)'$/s.exec(expression);
  if (literal) return literal[1];
  const [, source, name = ''] =
    /^(context|stageVariables|method\.request\.header|method\.request\.querystring)\.(.+)$/.exec(
      expression,
    ) ?? [];
  if (source === 'context') return contextValue(context, name);
  if (source === 'stageVariables') return model.stageVariables?.[name];
  if (source === 'method.request.header') return request && headerOf(request, name);
  if (source === 'method.request.querystring')
    return request?.target.query.findLast(([each]) => each === name)?.[1];
  return undefined;
}

/** The headers of a configured response over `defaults`; one whose expression has no value is left out. */
export function mappedHeaders(
  defaults: Readonly<Record<string, string>>,
  expressions: Readonly<Record<string, string>>,
  sources: MappingSources,
): Headers {
  const mapped = Object.entries(expressions).flatMap(([name, expression]) => {
    const value = mappedValue(expression, sources);
    return value === undefined ? [] : [[name, value] as const];
  });
  return withHeaders(Object.entries(defaults), mapped);
}

/** `headers` with `others` in place of those of the same names. */
function withHeaders(headers: Headers, others: Headers): Headers {
  return [
    ...new Map([...headers, ...others].map((header) => [header[0].toLowerCase(), header] as const)).values(),
  ];
}

type Headers = readonly (readonly [name: string, value: string])[];

/** `09/Apr/2015:12:34:56 +0000` */
function commonLogTime(time: Date): string {
  const [, day, month, year, clock] = /^\w+, (\d+) (\w+) (\d+) ([\d:]+)/.exec(time.toUTCString()) ?? [];
  return `${day}/${month}/${year}:${clock} +0000`;
}
