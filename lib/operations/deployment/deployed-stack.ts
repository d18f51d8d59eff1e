import type { CloudFormationClient, Stack } from '@aws-sdk/client-cloudformation';
import type { Environment } from '../../environment/environment';
import { environments } from '../../environments';
import { AwsCallFailed, type Caller, callAws } from '../aws';
import { CommandFailed } from '../failure';
import { clientSettings } from '../target';

/** A stack of the table, deployed or not. */
export interface TableStack {
  readonly environment: Environment;
  readonly stackId: string;
  readonly region: string;
}

/** A stack of the table with a client of its region. */
export interface StackApi extends TableStack, Caller {
  readonly cloudFormation: CloudFormationClient;
}

/** The stacks of an environment, the one that serves first. */
export function stacksOf(environment: Environment): readonly TableStack[] {
  const { stackId, region, standby } = environment;
  return [{ environment, stackId, region }, ...(standby ? [{ environment, ...standby }] : [])];
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
    // CloudFormation has no error of its own for it.
    if (error instanceof AwsCallFailed && /does not exist/.test(error.message)) return undefined;
    throw error;
  }
}

/** @throws CommandFailed when the stack is not deployed */
export async function requireDeployed(api: StackApi): Promise<Stack> {
  const stack = await describeDeployed(api);
  if (stack) return stack;
  throw new CommandFailed(
    `There is no stack ${api.stackId} in ${api.region}.`,
    `Deploy it, check the account that you are signed in to, or take its row out of lib/environments.ts.`,
  );
}
