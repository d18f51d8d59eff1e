import { type Check, failed, notAsked, ok } from '../check';
import { resourcesOf } from '../plan';
import { remedyOf } from './quotas';

/**
 * Each request of a burst runs in a function of its own. New accounts may have far less than the default of 1,000.
 * https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html,
 * https://docs.aws.amazon.com/lambda/latest/api/API_GetAccountSettings.html
 */
const concurrency: Check = {
  id: 'lambda-concurrency',
  title: 'quota: Lambda concurrency',
  scope: 'stack',
  async ask({ environment, stack, clientSettings, call }) {
    if (resourcesOf(stack, 'AWS::ApiGateway::Stage').length === 0) return ok('the stack serves no requests');
    const { burst } = environment.throttle;
    const { GetAccountSettingsCommand, LambdaClient } = await import('@aws-sdk/client-lambda');
    const client = new LambdaClient(clientSettings);
    const { AccountLimit } = await call('lambda:GetAccountSettings', (options) =>
      client.send(new GetAccountSettingsCommand({}), options),
    );
    const { ConcurrentExecutions: all = 0, UnreservedConcurrentExecutions: free = 0 } = AccountLimit ?? {};
    const found = `${free} of ${all} executions unreserved, the throttle's burst is ${burst}`;
    if (free >= burst) return ok(found);
    const quota = { service: 'lambda', code: 'L-B99A9384' };
    return failed(found, remedyOf(quota, all - free + burst, stack.region));
  },
};

/** Lambda lists its runtimes in its documentation, and in no call that only reads. */
const runtime: Check = {
  id: 'lambda-runtime',
  title: "functions' runtime",
  scope: 'stack',
  async ask({ stack }) {
    const runtimes = new Set(
      resourcesOf(stack, 'AWS::Lambda::Function').map(({ properties }) => properties.Runtime),
    );
    return notAsked(
      `AWS has no call that tells whether ${stack.region} offers ${[...runtimes].join(', ')}: see https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtimes.html`,
    );
  },
};

export const functionChecks: readonly Check[] = [concurrency, runtime];
