import type { LocalFunction } from '../lambda/function';
import { AwsError, type AwsService, requireAllowed } from '../network/aws-server';
import { type Authorize, allowEverything } from '../permissions/permissions';

const invocations = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/;

/**
 * Lambda's Invoke, with an answer (`RequestResponse`) only.
 * https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
 *
 * @param find a function by its name or ARN; qualifiers are not supported
 */
export function createLambdaApi(
  find: (nameOrArn: string) => Pick<LocalFunction, 'arn' | 'invoke'> | undefined,
  authorize: Authorize = allowEverything,
): AwsService {
  return async ({ method, path, headers, input, accessKeyId }) => {
    const [, encoded] = invocations.exec(path) ?? [];
    if (method !== 'POST' || encoded === undefined) {
      throw new AwsError('UnknownOperationException', `${method} ${path} of Lambda is not supported`, 404);
    }
    const type = headers['x-amz-invocation-type'] ?? 'RequestResponse';
    if (type !== 'RequestResponse') {
      throw new AwsError('InvalidParameterValueException', `Invocation type ${type} is not supported`);
    }
    const found = find(decodeURIComponent(encoded));
    if (!found) throw new AwsError('ResourceNotFoundException', `Function not found: ${encoded}`, 404);
    requireAllowed(authorize({ accessKeyId, action: 'lambda:InvokeFunction', resource: found.arn }));
    const result = await found.invoke(input ?? {});
    const executedVersion = { 'X-Amz-Executed-Version': '$LATEST' };
    if (result.ok) return { output: result.payload, headers: executedVersion };
    const { errorType, errorMessage, trace } = result;
    if (errorType === 'RequestEntityTooLargeException') {
      throw new AwsError('RequestTooLargeException', errorMessage, 413);
    }
    return {
      output: { errorType, errorMessage, trace },
      headers: { ...executedVersion, 'X-Amz-Function-Error': 'Unhandled' },
    };
  };
}
