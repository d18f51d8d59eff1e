import { randomUUID } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import type { OutputName } from '../domain/outputs';
import { ask } from './aws';
import { listResources } from './deployed-stack';
import { environmentCommand } from './environment-command';
import { CommandFailed, UsageError } from './failure';
import type { CommonOptions } from './options';
import {
  addressAt,
  findFaults,
  formatLocation,
  noZone,
  type OriginClients,
  type OriginLocation,
  type OriginStack,
  openOrigin,
  parameterNames,
  readConsumers,
  readGateway,
  readOriginStack,
  requireElasticIp,
} from './origin';
import { poll } from './poll';
import type { Target } from './target';
import type { Terminal } from './terminal';

interface MoveOriginOptions extends CommonOptions {
  readonly zone: string;
  readonly reserve?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

const help = `The address stays the same, the API keeps serving, and webhooks wait for some minutes. If the command is interrupted,
run it again: it continues.

With --reserve webhooks come from the reserve address, after one update that needs nothing of the old zone; without
it, they come from the one address again.`;

export function register(program: Command, terminal: Terminal): void {
  environmentCommand<MoveOriginOptions>(program, terminal, 'move-origin', {
    summary: 'move the NAT gateway and the fixed webhook origin address to another availability zone',
    help,
    run: (target, options) => moveOrigin(target, options, terminal),
  })
    .requiredOption('--zone <number>', 'the zone to move to, from 1', (text) => {
      if (/^[1-9]$/.test(text)) return text;
      throw new InvalidArgumentError('Give the number of a zone, such as 2.');
    })
    .option('--reserve', 'with the reserve address instead of the one address')
    .option('--no-reserve', 'with the one address (default)')
    .option('--yes', 'do it without asking')
    .option('--dry-run', 'print what would be done, and do nothing');
}

async function moveOrigin(target: Target, options: MoveOriginOptions, terminal: Terminal): Promise<void> {
  const { zone, reserve = false, environment, json, dryRun, yes } = options;
  const destination = { zone, reserve };
  requireZone(target, zone);
  const clients = await openOrigin(target);
  const { cloudFormation, stackId } = clients;
  const before = await readOriginStack(cloudFormation, stackId);
  requireKnownAddresses(target, before, destination);
  // In an emergency EC2 may not answer.
  if (!reserve) await requireElasticIp(clients, before.address);

  const address = addressAt(before, destination);
  const plan = { environment, stack: stackId, address, ...destination };
  const updates = updatesBetween(before, destination);
  const description = describePlan(target, before, updates);
  if (dryRun) {
    const steps = updates.map((location) => ({ step: 'update', ...location }));
    const from = { from: before.zone, fromReserve: before.reserve };
    return terminal.result(json ? JSON.stringify({ ...plan, ...from, steps }) : description);
  }
  terminal.note(description);
  if (updates.length > 0 && !yes) {
    if (!terminal.ask)
      throw new UsageError('There is no terminal to confirm this on.', 'Add --yes to do it without asking.');
    const answer = await terminal.ask('Do it? [y/N] ');
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailed('Nothing was changed.');
  }

  const moved = await move(clients, destination, terminal.note).catch((error) => {
    if (!(error instanceof CommandFailed)) throw error;
    const next = 'See "If a move fails" in docs/runbook.md; the same command continues the move.';
    throw new CommandFailed(error.message, [error.remedy, next].filter(Boolean).join(' '));
  });
  if (moved.stack.status.endsWith('_IN_PROGRESS'))
    terminal.note(
      'CloudFormation is still deleting the old gateway; until then, the stack takes no other update.',
    );
  const { id: natGatewayId, availabilityZone } = moved.gateway ?? {};
  terminal.result(
    json
      ? JSON.stringify({ ...plan, availabilityZone, natGatewayId, updates: moved.updates })
      : `The webhook origin of ${environment} is in zone ${zone} (${availabilityZone}): gateway ${natGatewayId} sends from ${reserve ? `the reserve address ${address}` : address}, and the consumers are on.`,
  );
}

function requireZone({ environment: { name, zones }, local }: Target, zone: string): void {
  if (local)
    throw new UsageError(
      'This machine has neither zones nor gateways: move-origin is for deployed environments.',
      'Give the outputs file of the deployment with --outputs.',
    );
  if (Number(zone) > zones.length)
    throw new UsageError(`Environment ${name} has no zone ${zone}. Give a zone from 1 to ${zones.length}.`);
}

/** Receivers allow the published addresses, and no others. */
function requireKnownAddresses(target: Target, stack: OriginStack, { reserve }: OriginLocation): void {
  const { stackId } = target.environment;
  if (reserve && stack.reserveAddress === undefined)
    throw new UsageError(
      `Stack ${stackId} has no reserve address.`,
      'Move without --reserve. To have one in the next emergency: "webhookOrigin: { reserve: true }" in the row.',
    );
  const compare = (output: OutputName, found: string | undefined) => {
    if (target.output(output) === found) return;
    throw new CommandFailed(
      `${output} of stack ${stackId} is ${found}, the outputs file has ${target.output(output)}.`,
      'Check the AWS account you are signed in to, and the outputs file.',
    );
  };
  compare('WebhookOriginAddress', stack.address);
  if (reserve) compare('WebhookOriginReserveAddress', stack.reserveAddress);
}

/**
 * The stack updates from one location to another. An Elastic IP cannot be on two gateways, and CloudFormation creates the new
 * one before it deletes the old one: so with the same address the way leads through `none`.
 */
export function updatesBetween(from: OriginLocation, to: OriginLocation): readonly OriginLocation[] {
  if (isSame(from, to)) return [];
  const isDirect = from.zone === noZone || from.reserve !== to.reserve;
  return isDirect ? [to] : [{ zone: noZone, reserve: from.reserve }, to];
}

const isSame = (one: OriginLocation, other: OriginLocation): boolean =>
  one.zone === other.zone && one.reserve === other.reserve;

function describePlan(
  { environment: { stackId, region } }: Target,
  stack: OriginStack,
  updates: readonly OriginLocation[],
): string {
  const steps = updates.map((location) =>
    location.zone === noZone
      ? 'Update the stack to zone none: consumers off, then routes and gateway deleted. Webhooks wait.'
      : `Update the stack to ${formatLocation(location)}: gateway with ${addressAt(stack, location)}, routes to it, consumers on.`,
  );
  return [
    `Stack ${stackId} (${region}, ${stack.status}) is in ${formatLocation(stack)}.`,
    ...(steps.length > 0
      ? steps.map((step, index) => `  ${index + 1}. ${step}`)
      : ['There is nothing to do.']),
  ].join('\n');
}

/** The state of the move is in the stack's own parameters: an interrupted move continues from there. */
async function move(clients: OriginClients, destination: OriginLocation, note: (line: string) => void) {
  let stack = await waitForStack(clients, destination, note);
  const updates: (OriginLocation & { readonly seconds: number })[] = [];
  for (const location of updatesBetween(stack, destination)) {
    note(`Updating the stack to ${formatLocation(location)}.`);
    const begun = Date.now();
    const token = await beginUpdate(clients, stack, location);
    stack = await waitForStack(clients, location, note);
    if (!stack.status.startsWith('UPDATE_COMPLETE'))
      throw await updateFailed(clients, stack, location, token);
    updates.push({ ...location, seconds: Math.round((Date.now() - begun) / 1_000) });
  }
  return { stack, updates, gateway: await verify(clients, stack) };
}

/** Milliseconds. */
const pollInterval = 5_000;
/** For one update: two fit into the 90 minutes of the workflow's job. */
const updateMinutes = 40;
/** Seconds until the consumers are on, which takes Lambda some time after the update. */
const consumerTimeout = 5 * 60;

/**
 * Waits until no update runs. Webhooks go out again as soon as CloudFormation only has the old gateway left to delete, which
 * can take hours in a zone that is down; on the way to `none`, that deletion is what has to be done.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html
 */
async function waitForStack(
  { cloudFormation, stackId }: OriginClients,
  location: OriginLocation,
  note: (line: string) => void,
): Promise<OriginStack> {
  const begun = Date.now();
  let minutes = 0;
  let status = '';
  const ask = async () => {
    const stack = await readOriginStack(cloudFormation, stackId);
    status = stack.status;
    const isAttached =
      status === 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS' && location.zone !== noZone && isSame(stack, location);
    if (isAttached || !status.endsWith('_IN_PROGRESS')) return stack;
    const elapsed = Math.floor((Date.now() - begun) / 60_000);
    if (elapsed > minutes) note(`  ${status} for ${elapsed} min`);
    minutes = elapsed;
    return undefined;
  };
  const stack = await poll(ask, { seconds: updateMinutes * 60, every: pollInterval });
  if (stack) return stack;
  throw new CommandFailed(`Stack ${stackId} is still ${status} after ${updateMinutes} min.`);
}

/**
 * Role, tags, notifications and rollback triggers keep their values when left out; parameters do not.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_UpdateStack.html
 *
 * @returns the update's token
 */
async function beginUpdate(
  { cloudFormation, stackId }: OriginClients,
  stack: OriginStack,
  { zone, reserve }: OriginLocation,
): Promise<string> {
  const values: Readonly<Record<string, string>> = {
    [parameterNames.zone]: zone,
    [parameterNames.reserve]: reserve ? 'yes' : 'no',
  };
  const token = randomUUID();
  await ask(cloudFormation, 'updateStack', {
    StackName: stackId,
    UsePreviousTemplate: true,
    Parameters: stack.parameters.map((name) => ({
      ParameterKey: name,
      ...(values[name] ? { ParameterValue: values[name] } : { UsePreviousValue: true }),
    })),
    Capabilities: stack.capabilities,
    ClientRequestToken: token,
  });
  return token;
}

/** With CloudFormation's reasons. Its latest 100 events are enough: a move changes a handful of resources. */
async function updateFailed(
  { cloudFormation, stackId }: OriginClients,
  { status, zone }: OriginStack,
  location: OriginLocation,
  token: string,
): Promise<CommandFailed> {
  const { StackEvents = [] } = await ask(cloudFormation, 'describeStackEvents', { StackName: stackId });
  const reasons = StackEvents.filter(
    ({ ClientRequestToken, ResourceStatus }) =>
      ClientRequestToken === token && ResourceStatus?.endsWith('_FAILED'),
  ).map(({ LogicalResourceId, ResourceStatusReason }) => `\n  ${LogicalResourceId}: ${ResourceStatusReason}`);
  const now = zone === noZone ? 'No gateway holds the address, and webhooks wait.' : `It is in zone ${zone}.`;
  return new CommandFailed(
    `The update to ${formatLocation(location)} failed: stack ${stackId} is ${status}. ${now}${reasons.join('')}`,
  );
}

/** Compares EC2 and Lambda with the stack. @returns the gateway */
async function verify(clients: OriginClients, stack: OriginStack) {
  let faults: readonly string[] = [];
  const ask = async () => {
    const resources = await listResources(clients.cloudFormation, clients.stackId);
    const [gateway, consumers] = await Promise.all([
      readGateway(clients, resources),
      readConsumers(clients, resources),
    ]);
    faults = findFaults(stack, resources, gateway, consumers);
    // `Enabling`, `Updating`: https://docs.aws.amazon.com/lambda/latest/api/API_GetEventSourceMapping.html
    const isChanging = consumers.some(({ state }) => state.endsWith('ing'));
    return faults.length === 0 || !isChanging ? { gateway } : undefined;
  };
  const verified = await poll(ask, { seconds: consumerTimeout, every: pollInterval });
  if (verified && faults.length === 0) return verified.gateway;
  throw new CommandFailed(
    `Stack ${clients.stackId} is in ${formatLocation(stack)}, but ${faults.join('; ')}.`,
  );
}
