import { randomBytes, randomUUID } from 'node:crypto';
import type { RestApiModel } from './model';
import { type GatewayRequest, headerOf } from './request';

type Fields = Record<string, unknown>;

/**
 * The `$context` variables of one request; also the `requestContext` of the events. Steps add what they find out.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html
 */
export interface GatewayContext extends Fields {
  readonly requestId: string;
  /** Unique, and never from the client; also in the header `x-amz-apigw-id`. */
  readonly extendedRequestId: string;
  authorizer?: Fields;
}

export interface ContextSource {
  readonly model: RestApiModel;
  readonly accountId: string;
  readonly now: Date;
}

export function newContext({ model, accountId, now }: ContextSource): GatewayContext {
  return {
    accountId,
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
  const domainName = (headerOf(request, 'host') ?? '127.0.0.1').replace(/:\d+$/, '');
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

/**
 * Puts the values of `$context.…` variables into a text, without escaping, as the gateway does.
 *
 * @param unset what stands for a variable that has no value
 */
export function render(template: string, context: GatewayContext, unset: string): string {
  return template.replace(
    /\$context((?:\.\w+)+)/g,
    (_, path: string) => lookUp(context, path.slice(1)) ?? unset,
  );
}

/** The value of a variable such as `authorizer.code`, as text. */
export function lookUp(context: GatewayContext, path: string): string | undefined {
  let value: unknown = context;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Fields)[name];
  }
  return value === undefined || value === null || typeof value === 'object' ? undefined : String(value);
}

/**
 * The value of a mapping expression for a header: `'a literal'`, `context.…` or `method.request.…`.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/request-response-data-mappings.html
 */
export function mapValue(
  expression: string,
  context: GatewayContext,
  request: GatewayRequest | undefined,
): string | undefined {
  const literal = /^'(.*)'$/s.exec(expression);
  if (literal) return literal[1];
  const [, source, name = ''] =
    /^(context|method\.request\.header|method\.request\.querystring)\.(.+)$/.exec(expression) ?? [];
  if (source === 'context') return lookUp(context, name);
  if (!request) return undefined;
  if (source === 'method.request.header') return headerOf(request, name);
  if (source === 'method.request.querystring')
    return request.target.query.findLast(([each]) => each === name)?.[1];
  return undefined;
}

/** `09/Apr/2015:12:34:56 +0000` */
function commonLogTime(time: Date): string {
  const [, day, month, year, clock] = /^\w+, (\d+) (\w+) (\d+) ([\d:]+)/.exec(time.toUTCString()) ?? [];
  return `${day}/${month}/${year}:${clock} +0000`;
}
