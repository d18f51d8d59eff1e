import type { CloudFormationClient, Stack } from '@aws-sdk/client-cloudformation';
import { stacksOf, type TableStack } from '../../lib/environment/stacks';
import { environments } from '../../lib/environments';
import { AwsCallFailed, type Caller, callAws } from '../aws';
import { isMissingStack } from '../aws-failure';
import { CommandFailed } from '../failure';
import { clientSettings } from '../target';

/** A stack of the table with a client of its region. */
export interface StackApi extends TableStack, Caller {
  readonly cloudFormation: CloudFormationClient;
}

/** Every stack of the table, in its order. */
export const allStacks = (): readonly TableStack[] => environments.flatMap(stacksOf);

export async function openStack({ environment, stackId, region }: TableStack): Promise<StackApi> {
  const { CloudFormationClient } = await import('@aws-sdk/client-cloudformation');
  const cloudFormation = new CloudFormationClient(clientSettings(region));
  return { environment, stackId, region, local: false, cloudFormation };
}

/** @returns undefined when there is none, or only a change set of one */
export async function describeDeployed(api: StackApi): Promise<Stack | undefined> {
  const { DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');
  try {
    const { Stacks } = await callAws(api, 'cloudformation:DescribeStacks', (options) =>
      api.cloudFormation.send(new DescribeStacksCommand({ StackName: api.stackId }), options),
    );
    const [stack] = Stacks ?? [];
    return stack?.StackStatus === 'REVIEW_IN_PROGRESS' ? undefined : stack;
  } catch (error) {
    if (error instanceof AwsCallFailed && isMissingStack(error.errorName, error.message)) return undefined;
    throw error;
  }
}

/** @throws CommandFailed when the stack is not deployed */
export async function requireDeployed(api: StackApi): Promise<Stack> {
  const stack = await describeDeployed(api);
  if (stack) return stack;
  throw new CommandFailed(
    `There is no stack ${api.stackId} in ${api.region}.`,
    'Deploy it, or check the account that you are signed in to.',
  );
}
