import type { CloudFormationClient, Stack } from '@aws-sdk/client-cloudformation';
import { environments, stacksOf, type TableStack } from '../lib/environments';
import { type Caller, callAws, noStack, unlessRefused } from './aws';
import { clientSettings } from './target';

/** A stack of the table with a client of its region. */
export interface StackApi extends TableStack, Caller {
  readonly cloudFormation: CloudFormationClient;
}

/** Every stack of the table, in its order. */
export const allStacks = (): readonly TableStack[] => environments.flatMap(stacksOf);

export async function openStack(stack: TableStack): Promise<StackApi> {
  const { CloudFormationClient } = await import('@aws-sdk/client-cloudformation');
  return { ...stack, local: false, cloudFormation: new CloudFormationClient(clientSettings(stack.region)) };
}

/** @returns undefined when there is none, or only a change set of one */
export async function describeDeployed(api: StackApi): Promise<Stack | undefined> {
  const { DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');
  // CloudFormation has no error of its own for a stack that is missing.
  const answer = await unlessRefused(/^ValidationError$/, () =>
    callAws(api, 'cloudformation:DescribeStacks', (options) =>
      api.cloudFormation.send(new DescribeStacksCommand({ StackName: api.stackId }), options),
    ),
  );
  const stack = answer?.Stacks?.[0];
  return stack?.StackStatus === 'REVIEW_IN_PROGRESS' ? undefined : stack;
}

/** @throws AwsCallFailed when the stack is not deployed */
export async function requireDeployed(api: StackApi): Promise<Stack> {
  const stack = await describeDeployed(api);
  if (stack) return stack;
  throw noStack(api.stackId);
}

/** One of a stack's resources that exist. */
export interface StackResource {
  readonly logicalId: string;
  readonly type: string;
  readonly physicalId: string;
}

/** All of a stack's resources: it has more than the 100 that DescribeStackResources returns. */
export async function listStackResources(
  client: CloudFormationClient,
  StackName: string,
  options: { readonly abortSignal: AbortSignal },
): Promise<readonly StackResource[]> {
  const { paginateListStackResources } = await import('@aws-sdk/client-cloudformation');
  const summaries = await collect(
    paginateListStackResources({ client }, { StackName }, options),
    (page) => page.StackResourceSummaries,
  );
  return summaries.flatMap(({ LogicalResourceId, ResourceType, PhysicalResourceId, ResourceStatus }) =>
    LogicalResourceId && ResourceType && PhysicalResourceId && ResourceStatus !== 'DELETE_COMPLETE'
      ? [{ logicalId: LogicalResourceId, type: ResourceType, physicalId: PhysicalResourceId }]
      : [],
  );
}

/** All items of all pages of an SDK's paginator. */
export async function collect<Page, Item>(
  pages: AsyncIterable<Page>,
  itemsOf: (page: Page) => readonly Item[] | undefined,
): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const page of pages) found.push(...(itemsOf(page) ?? []));
  return found;
}
