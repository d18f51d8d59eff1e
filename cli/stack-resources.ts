import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';

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
