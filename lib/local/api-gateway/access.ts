import { type GatewayContext, lookUp, render } from './context';
import type { RestApiModel } from './model';
import type { Reply } from './outcome';

/** One answered request. Holds no header, body or query of it. */
export interface AccessEntry {
  /** The one in the header `x-amz-apigw-id`. */
  readonly requestId: string;
  readonly httpMethod: string | undefined;
  /** As in the template; `undefined` when no route matched. */
  readonly resourcePath: string | undefined;
  readonly status: number;
  readonly latencyMs: number;
  /** The type of the gateway's own response, such as `THROTTLED`. */
  readonly responseType: string | undefined;
  /** The line of the stage's access log, when the stage has one. A variable without a value is `-` in it. */
  readonly line: string | undefined;
  /** What went wrong in the gateway itself. */
  readonly error?: unknown;
}

export function accessEntry(
  model: RestApiModel,
  context: GatewayContext,
  reply: Reply,
  latencyMs: number,
  error?: unknown,
): AccessEntry {
  const complete = {
    ...context,
    status: reply.status,
    responseLatency: latencyMs,
    responseLength: Buffer.byteLength(reply.body),
  };
  return {
    requestId: context.extendedRequestId,
    httpMethod: lookUp(context, 'httpMethod'),
    resourcePath: lookUp(context, 'resourcePath'),
    status: reply.status,
    latencyMs,
    responseType: lookUp(context, 'error.responseType'),
    line: model.accessLogFormat && render(model.accessLogFormat, complete, '-'),
    ...(error !== undefined && { error }),
  };
}
