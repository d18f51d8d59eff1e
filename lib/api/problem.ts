/**
 * The gateway's name of a request. `$context.requestId` would not do: "Clients can override this request ID. We
 * recommend using $context.extendedRequestId for a unique request ID that API Gateway generates"
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html). A value
 * that a caller writes could also break out of the JSON string: these templates are filled without escaping.
 */
const REQUEST_ID = '$context.extendedRequestId';

/** A problem document (RFC 9457) that the gateway gives without a handler. */
export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function problemTemplate({ status, code, title, detail }: Problem): string {
  const type = `urn:wallet-infrastructure:problem:${code}`;
  return JSON.stringify({ type, title, status, detail, code, requestId: REQUEST_ID });
}
