export type Fields = Readonly<Record<string, unknown>>;

/** The properties of a resource with its logical and its physical id. */
export interface Entry extends Fields {
  readonly logicalId: string;
  readonly id: string;
}

/** A function's ARN inside the URI by which API Gateway invokes it. */
const INVOCATION_URI = /\/functions\/(arn:[^/]+)\/invocations$/;

/** @throws Error when the URI is not one that invokes a Lambda function. */
export function functionArnOf(logicalId: string, uri: unknown): string {
  const arn = INVOCATION_URI.exec(String(uri))?.[1];
  if (!arn) throw new Error(`${logicalId}: ${uri} is not the invocation of a Lambda function`);
  return arn;
}

export function fields(value: unknown): Fields {
  return (value as Fields | undefined) ?? {};
}
