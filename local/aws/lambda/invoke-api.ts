import { AwsError, type AwsService, requireAllowed } from '../aws-server';
import { type Authorize, allowEverything } from '../iam/permissions';
import type { LocalFunction } from './function';

const invocations = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/;

/**
 * Lambda's Invoke, synchronous only (`RequestResponse`).
 * https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
 *
 * @param find finds a function by name or ARN; qualifiers are not supported
 */
export function createLambdaApi(
  find: (nameOrArn: string) => Pick<LocalFunction, 'arn' | 'invoke'> | undefined,
  authorize: Authorize = allowEverything,
): AwsService {
  return async ({ operation, headers, input, accessKeyId }) => {
    const [, encoded] = invocations.exec(operation) ?? [];
    if (!encoded) throw new AwsError('UnknownOperationException', `${operation} of Lambda is not supported`);
    const type = headers['x-amz-invocation-type'] ?? 'RequestResponse';
    if (type !== 'RequestResponse') {
      throw new AwsError('InvalidParameterValueException', `Invocation type ${type} is not supported`);
    }
    const found = find(decodeURIComponent(encoded));
    if (!found) throw new AwsError('ResourceNotFoundException', `Function not found: ${encoded}`, 404);
    requireAllowed(authorize({ accessKeyId, action: 'lambda:InvokeFunction', resource: found.arn }));
    const result = await found.invoke(input ?? {});
    if (result.ok) return { output: result.payload };
    const { ok: _, ...output } = result;
    return { output, headers: { 'X-Amz-Function-Error': 'Unhandled' } };
  };
}
