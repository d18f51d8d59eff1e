import { CallFailed } from './call';
import { type CallAws, type Context, collect } from './check';

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
      if (error instanceof CallFailed && isMissing(error)) return undefined;
      throw error;
    }
  });
  const deployedResources = once(async () => {
    if ((await deployedStatus()) === undefined) return [];
    const { CloudFormationClient, paginateListStackResources } = await import(
      '@aws-sdk/client-cloudformation'
    );
    const client = new CloudFormationClient(settings);
    const summaries = await call('cloudformation:ListStackResources', (options) =>
      collect(
        paginateListStackResources({ client }, { StackName }, options),
        (page) => page.StackResourceSummaries,
      ),
    );
    return summaries.flatMap(({ LogicalResourceId, ResourceType, PhysicalResourceId, ResourceStatus }) =>
      LogicalResourceId && ResourceType && PhysicalResourceId && ResourceStatus !== 'DELETE_COMPLETE'
        ? [{ logicalId: LogicalResourceId, type: ResourceType, physicalId: PhysicalResourceId }]
        : [],
    );
  });
  return { deployedStatus, deployedResources };
}

/** CloudFormation has no error of its own for it. */
const isMissing = ({ errorName, detail }: CallFailed) =>
  errorName === 'ValidationError' && detail.endsWith('does not exist');

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => {
    answer ??= ask();
    return answer;
  };
}
