import { randomUUID } from 'node:crypto';
import { callAws } from '../aws';
import { CommandFailed } from '../failure';
import { poll } from '../poll';
import {
  addressAt,
  describeStack,
  faultsOf,
  formatPlace,
  type Gateway,
  listResources,
  noZone,
  type OriginClients,
  type OriginStack,
  type Place,
  parameterNames,
  readConsumers,
  readGateway,
} from './origin';

/** Milliseconds. */
const interval = 5_000;
/** Seconds for one update of the stack: two fit into the 90 minutes of the workflow's job. */
const updateTimeout = 40 * 60;
/** Seconds until the consumers are on, which takes Lambda some time after the update. */
const consumerTimeout = 5 * 60;

/**
 * The stack updates from one place to another. An Elastic IP cannot be on two gateways, and CloudFormation creates the new one
 * before it deletes the old one: so with the same address the way leads through `none`.
 */
export function updatesBetween(from: Place, to: Place): readonly Place[] {
  if (isSame(from, to)) return [];
  const isDirect = from.zone === noZone || from.reserve !== to.reserve;
  return isDirect ? [to] : [{ zone: noZone, reserve: from.reserve }, to];
}

const isSame = (one: Place, other: Place): boolean =>
  one.zone === other.zone && one.reserve === other.reserve;

/** The state of the move is the stack's own parameters: a move that was interrupted continues from there. */
export async function move(clients: OriginClients, destination: Place, note: (line: string) => void) {
  let stack = await waitForStack(clients, destination, note);
  const updates: (Place & { readonly seconds: number })[] = [];
  for (const place of updatesBetween(stack, destination)) {
    note(`Updating the stack to ${formatPlace(place)}.`);
    const begun = Date.now();
    const token = await beginUpdate(clients, stack, place);
    stack = await waitForStack(clients, place, note);
    if (!stack.status.startsWith('UPDATE_COMPLETE')) throw await updateFailed(clients, stack, place, token);
    updates.push({ ...place, seconds: Math.round((Date.now() - begun) / 1_000) });
  }
  return { stack, updates, gateway: await verify(clients, stack) };
}

/**
 * Waits until no update runs. Webhooks go out again as soon as CloudFormation only has the old gateway left to delete, which
 * can take hours in a zone that is down; on the way to `none`, that deletion is what has to be done.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html
 */
async function waitForStack(
  clients: OriginClients,
  place: Place,
  note: (line: string) => void,
): Promise<OriginStack> {
  const begun = Date.now();
  let minutes = 0;
  let last = '';
  const found = await poll(
    async () => {
      const stack = await describeStack(clients);
      last = stack.status;
      const isAttached =
        last === 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS' && place.zone !== noZone && isSame(stack, place);
      if (isAttached || !last.endsWith('_IN_PROGRESS')) return stack;
      const elapsed = Math.floor((Date.now() - begun) / 60_000);
      if (elapsed > minutes) note(`  ${last} for ${elapsed} min`);
      minutes = elapsed;
      return undefined;
    },
    { seconds: updateTimeout, every: interval },
  );
  if (found) return found;
  const { stackId } = clients.target.environment;
  throw new CommandFailed(`Stack ${stackId} is still ${last} after ${updateTimeout / 60} min.`);
}

/**
 * Role, tags, notifications and rollback triggers keep their values, parameters do not.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_UpdateStack.html
 *
 * @returns the update's token
 */
async function beginUpdate(
  { cloudFormation, target }: OriginClients,
  stack: OriginStack,
  { zone, reserve }: Place,
): Promise<string> {
  const values = new Map<string, string>([
    [parameterNames.zone, zone],
    [parameterNames.reserve, reserve ? 'yes' : 'no'],
  ]);
  const token = randomUUID();
  const update = {
    StackName: target.environment.stackId,
    UsePreviousTemplate: true,
    Parameters: stack.parameters.map((name) => ({
      ParameterKey: name,
      ...(values.has(name) ? { ParameterValue: values.get(name) } : { UsePreviousValue: true }),
    })),
    Capabilities: stack.capabilities,
    ClientRequestToken: token,
  };
  await callAws(target, 'cloudformation:UpdateStack', (options) =>
    cloudFormation.updateStack(update, options),
  );
  return token;
}

/** Says what CloudFormation gave as reasons. Its latest 100 events are enough: a move changes a handful of resources. */
async function updateFailed(
  { cloudFormation, target }: OriginClients,
  { status, zone }: OriginStack,
  place: Place,
  token: string,
): Promise<CommandFailed> {
  const { stackId } = target.environment;
  const { StackEvents = [] } = await callAws(target, 'cloudformation:DescribeStackEvents', (options) =>
    cloudFormation.describeStackEvents({ StackName: stackId }, options),
  );
  const reasons = StackEvents.filter(
    ({ ClientRequestToken, ResourceStatus }) =>
      ClientRequestToken === token && ResourceStatus?.endsWith('_FAILED'),
  ).map(({ LogicalResourceId, ResourceStatusReason }) => `\n  ${LogicalResourceId}: ${ResourceStatusReason}`);
  const now = zone === noZone ? 'No gateway holds the address, and webhooks wait.' : `It is in zone ${zone}.`;
  return new CommandFailed(
    `The update to ${formatPlace(place)} failed: stack ${stackId} is ${status}. ${now}${reasons.join('')}`,
  );
}

/** Compares EC2 and Lambda with the stack: CloudFormation does not know of changes made outside it. */
async function verify(clients: OriginClients, stack: OriginStack): Promise<Gateway | null> {
  let faults: readonly string[] = [];
  const verified = await poll(
    async () => {
      const resources = await listResources(clients);
      const [gateway, consumers] = await Promise.all([
        readGateway(clients, resources),
        readConsumers(clients, resources),
      ]);
      faults = faultsOf({ gateway, consumers, resources }, { zone: stack.zone, address: addressAt(stack) });
      // `Enabling`, `Updating`: https://docs.aws.amazon.com/lambda/latest/api/API_GetEventSourceMapping.html
      const isChanging = consumers.some(({ state }) => state.endsWith('ing'));
      return faults.length === 0 || !isChanging ? { gateway } : undefined;
    },
    { seconds: consumerTimeout, every: interval },
  );
  if (verified && faults.length === 0) return verified.gateway;
  throw new CommandFailed(
    `Stack ${clients.target.environment.stackId} is in ${formatPlace(stack)}, but ${faults.join('; ')}.`,
  );
}
