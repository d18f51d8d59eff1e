/**
 * The gateway's own id of a request. Callers can choose `requestId` themselves, so nothing may depend on it: a caller
 * who repeats an id would make a replay look like the same request.
 *
 * @throws Error when there is none, which the gateway never does.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html ($context.requestId)
 */
export function readRequestId({
  extendedRequestId,
}: {
  readonly extendedRequestId?: string | undefined;
}): string {
  if (!extendedRequestId) throw new Error('The gateway gave the request no extended request id');
  return extendedRequestId;
}
