import { isMissingStack } from '../aws-failure';
import { listStackResources } from '../stack-resources';
import { CallFailed } from './call';
import type { CallAws, Context } from './check';

type DeployedStack = Pick<Context, 'deployedStatus' | 'deployedResources'>;

/** What runs under the stack's name. Several checks ask for it, CloudFormation is asked once. */
export function deployedStack(
  StackName: string,
  settings: Context['clientSettings'],
  call: CallAws,
): DeployedStack {
  const deployedStatus = once(async () => {
    const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');
    const client = new CloudFormationClient(settings);
    try {
      const { Stacks } = await call('cloudformation:DescribeStacks', (options) =>
        client.send(new DescribeStacksCommand({ StackName }), options),
      );
      return Stacks?.[0]?.StackStatus;
    } catch (error) {
      if (error instanceof CallFailed && isMissingStack(error.errorName, error.detail)) return undefined;
      throw error;
    }
  });
  const deployedResources = once(async () => {
    if ((await deployedStatus()) === undefined) return [];
    const { CloudFormationClient } = await import('@aws-sdk/client-cloudformation');
    const client = new CloudFormationClient(settings);
    return call('cloudformation:ListStackResources', (options) =>
      listStackResources(client, StackName, options),
    );
  });
  return { deployedStatus, deployedResources };
}

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => {
    answer ??= ask();
    return answer;
  };
}
