import { randomUUID } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import type { OutputName } from '../../domain/outputs';
import { callAws } from '../shell/aws';
import type { DeployedEnvironment } from '../shell/deployed-environment';
import { environmentCommand } from '../shell/deployed-environment';
import { CommandFailed, UsageError } from '../shell/failure';
import { awaitInterruption } from '../shell/interruption';
import type { CommonOptions } from '../shell/options';
import { poll } from '../shell/poll';
import type { Terminal } from '../shell/terminal';
import {
  addressAt,
  formatLocation,
  noZone,
  type OriginClients,
  type OriginLocation,
  type OriginStack,
  openOrigin,
  parameterNames,
  readOrigin,
  readOriginStack,
  requireElasticIp,
} from './read-origin';

interface MoveOriginOptions extends CommonOptions {
  readonly zone: string;
  readonly reserve?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

const help = `The address does not change, the API stays up, and webhooks wait for some minutes. To resume an interrupted move, run
the command again.

With --reserve, webhooks come from the reserve address, after one update that does not depend on the old zone; without
it, they come from the main address again.`;

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
    .option('--reserve', 'use the reserve address instead of the main address')
    .option('--no-reserve', 'use the main address (default)')
    .option('--yes', 'do it: without this, only the steps are printed')
    .option('--dry-run', 'print the steps without doing them');
}

async function moveOrigin(
  target: DeployedEnvironment,
  options: MoveOriginOptions,
  terminal: Terminal,
): Promise<void> {
  const { zone, reserve = false, environment, json, dryRun, yes } = options;
  const { zones, stackId } = target.environment;
  const destination = { zone, reserve };
  const clients = await openOrigin(target);
  if (Number(zone) > zones.length)
    throw new UsageError(
      `Environment ${environment} has no zone ${zone}. Give a zone from 1 to ${zones.length}.`,
    );
  const before = await readOriginStack(clients.cloudFormation, stackId);
  requireKnownAddresses(target, before, destination);
  // With --reserve EC2 may be down.
  if (!reserve) await requireElasticIp(clients, before.address);

  const address = addressAt(before, destination);
  const plan = { environment, stack: stackId, address, ...destination };
  const updates = updatesBetween(before, destination);
  const description = describePlan(target, before, destination, updates);
  if (dryRun) {
    const steps = updates.map((location) => ({ step: 'update', ...location }));
    const from = { from: before.zone, fromReserve: before.reserve };
    return terminal.result(json ? JSON.stringify({ ...plan, ...from, steps }) : description);
  }
  terminal.note(description);
  if (updates.length > 0 && !yes) throw new UsageError('Nothing was changed.', 'Add --yes to move it.');

  const { signal, forget } = awaitInterruption();
  const progress: Progress = { note: terminal.note, signal, stack: before };
  const again = `move-origin --zone ${zone}${reserve ? ' --reserve' : ''} --yes`;
  const moved = await Promise.race([move(clients, destination, progress), interrupted(signal)])
    .catch((error) => {
      if (signal.aborted)
        throw new CommandFailed(`${whereItStands(progress)} Go on: ${target.walletCommand(again)}`);
      if (!(error instanceof CommandFailed)) throw error;
      const next =
        'See "If a move fails" in docs/runbook/emergencies.md; the same command continues the move.';
      throw new CommandFailed(error.message, [error.remedy, next].filter(Boolean).join(' '));
    })
    .finally(forget);
  const { id: natGatewayId, availabilityZone } = moved.gateway ?? {};
  terminal.result(
    json
      ? JSON.stringify({ ...plan, availabilityZone, natGatewayId, updates: moved.updates })
      : `The webhook origin of ${environment} is in zone ${zone} (${availabilityZone}): gateway ${natGatewayId} sends from ${reserve ? `the reserve address ${address}` : address}, and the consumers are enabled.`,
  );
}

/** Receivers allow the published addresses only. */
function requireKnownAddresses(
  target: DeployedEnvironment,
  stack: OriginStack,
  { reserve }: OriginLocation,
): void {
  const { stackId } = target.environment;
  if (reserve && stack.reserveAddress === undefined)
    throw new UsageError(
      `Stack ${stackId} has no reserve address.`,
      'Move without --reserve. To reserve one for the next emergency: "webhookOrigin: { reserve: true }" in the row.',
    );
  const compare = (output: OutputName, found: string | undefined) => {
    if (target.output(output) === found) return;
    throw new CommandFailed(
      `${output} of stack ${stackId} is ${found}, but the outputs file has ${target.output(output)}.`,
      'Check the AWS account you are signed in to, and the outputs file.',
    );
  };
  compare('WebhookOriginAddress', stack.address);
  if (reserve) compare('WebhookOriginReserveAddress', stack.reserveAddress);
}

/**
 * The stack updates from one location to another. An Elastic IP cannot be on two gateways, and CloudFormation creates the new
 * one before it deletes the old one: a move that keeps the address goes through `none`.
 */
function updatesBetween(from: OriginLocation, to: OriginLocation): readonly OriginLocation[] {
  if (isSame(from, to)) return [];
  const isDirect = from.zone === noZone || from.reserve !== to.reserve;
  return isDirect ? [to] : [{ zone: noZone, reserve: from.reserve }, to];
}

const isSame = (one: OriginLocation, other: OriginLocation): boolean =>
  one.zone === other.zone && one.reserve === other.reserve;

function describePlan(
  { environment: { stackId, region } }: DeployedEnvironment,
  stack: OriginStack,
  destination: OriginLocation,
  updates: readonly OriginLocation[],
): string {
  const steps = [
    ...(isSettled(stack, destination) ? [] : ['Wait for the update that is running.']),
    ...updates.map((location) =>
      location.zone === noZone
        ? 'Update the stack to zone none: disable consumers, then delete routes and gateway. Webhooks wait.'
        : `Update the stack to ${formatLocation(location)}: create a gateway with ${addressAt(stack, location)} and routes, enable consumers.`,
    ),
    'Check the gateway and the consumers.',
  ];
  const now = `Stack ${stackId} (${region}, ${stack.status}) is in ${formatLocation(stack)}.`;
  return [now, ...steps.map((step, index) => `  ${index + 1}. ${step}`)].join('\n');
}

/** How far a move has come. */
interface Progress {
  readonly note: (line: string) => void;
  /** Aborted by Ctrl-C and the like. CloudFormation ends a begun update by itself. */
  readonly signal: AbortSignal;
  /** The stack when last read. */
  stack: OriginStack;
  /** The update that was asked for last. */
  update?: OriginLocation;
}

const interrupted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

function whereItStands({ stack, update }: Progress): string {
  const during = update ? ` in the update to ${formatLocation(update)}` : '';
  const isWithout = [stack.zone, update?.zone].includes(noZone);
  const waits = isWithout ? ' While no gateway has the address, webhooks wait until the move goes on.' : '';
  return `Interrupted${during}: the stack was in ${formatLocation(stack)}, ${stack.status}. CloudFormation ends by itself what has begun; nothing begins another update.${waits}`;
}

/** The stack's parameters hold the state of the move: an interrupted move resumes from there. */
async function move(clients: OriginClients, destination: OriginLocation, progress: Progress) {
  const { note, signal } = progress;
  await waitForStack(clients, destination, progress);
  const updates: (OriginLocation & { readonly seconds: number })[] = [];
  for (const location of updatesBetween(progress.stack, destination)) {
    signal.throwIfAborted();
    note(`Updating the stack to ${formatLocation(location)}.`);
    const begun = Date.now();
    progress.update = location;
    const token = await beginUpdate(clients, progress.stack, location);
    await waitForStack(clients, location, progress);
    if (!progress.stack.status.startsWith('UPDATE_COMPLETE'))
      throw await updateFailed(clients, progress.stack, location, token);
    updates.push({ ...location, seconds: Math.round((Date.now() - begun) / 1_000) });
  }
  if (progress.stack.status.endsWith('_IN_PROGRESS'))
    note('CloudFormation is still deleting the old gateway; until then, the stack cannot be updated.');
  return { updates, gateway: await verify(clients, progress) };
}

/** Milliseconds. */
const pollInterval = 5_000;
const updateMinutes = 40;
/** Seconds. Lambda enables the consumers some time after the update. */
const consumerTimeout = 5 * 60;
/** Covers an update already in progress, the move's own two, and the consumers. The workflow's job and credentials must last longer. */
export const longestMoveMinutes = 3 * updateMinutes + consumerTimeout / 60;

/**
 * Whether no update runs. Cleanup is none: deleting the old gateway can take hours in a zone that is down, and webhooks are sent
 * meanwhile. A move to `none` does wait for that deletion.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html
 */
const isSettled = (stack: OriginStack, location: OriginLocation): boolean =>
  !stack.status.endsWith('_IN_PROGRESS') ||
  (stack.status === 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS' &&
    location.zone !== noZone &&
    isSame(stack, location));

/** Waits until the stack is settled; notes its status every minute. */
async function waitForStack(
  { cloudFormation, stackId }: OriginClients,
  location: OriginLocation,
  progress: Progress,
): Promise<void> {
  const begun = Date.now();
  let minutes = 0;
  const look = async () => {
    const stack = await readOriginStack(cloudFormation, stackId);
    progress.stack = stack;
    if (isSettled(stack, location)) return true;
    const elapsed = Math.floor((Date.now() - begun) / 60_000);
    if (elapsed > minutes) progress.note(`  ${stack.status} for ${elapsed} min`);
    minutes = elapsed;
    return undefined;
  };
  const { signal } = progress;
  if (await poll(look, { seconds: updateMinutes * 60, every: pollInterval, signal })) return;
  const { status } = progress.stack;
  throw new CommandFailed(`Stack ${stackId} is still ${status} after ${updateMinutes} min.`);
}

/**
 * Role, tags, notifications and rollback triggers keep their values when omitted; parameters do not.
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
  await callAws(cloudFormation, 'updateStack', {
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

/** Includes CloudFormation's reasons. The latest 100 events suffice: a move changes few resources. */
async function updateFailed(
  { cloudFormation, stackId }: OriginClients,
  { status, zone }: OriginStack,
  location: OriginLocation,
  token: string,
): Promise<CommandFailed> {
  const { StackEvents = [] } = await callAws(cloudFormation, 'describeStackEvents', { StackName: stackId });
  const reasons = StackEvents.filter(
    ({ ClientRequestToken, ResourceStatus }) =>
      ClientRequestToken === token && ResourceStatus?.endsWith('_FAILED'),
  ).map(({ LogicalResourceId, ResourceStatusReason }) => `\n  ${LogicalResourceId}: ${ResourceStatusReason}`);
  const now = zone === noZone ? 'No gateway has the address; webhooks wait.' : `It is in zone ${zone}.`;
  return new CommandFailed(
    `The update to ${formatLocation(location)} failed: stack ${stackId} is ${status}. ${now}${reasons.join('')}`,
  );
}

/** Compares EC2 and Lambda with the stack. @returns the gateway */
async function verify(clients: OriginClients, { stack, signal }: Progress) {
  let faults: readonly string[] = [];
  const look = async () => {
    const origin = await readOrigin(clients);
    ({ faults } = origin);
    // `Enabling`, `Updating`: https://docs.aws.amazon.com/lambda/latest/api/API_GetEventSourceMapping.html
    const isChanging = origin.consumers?.some(({ state }) => state.endsWith('ing'));
    return faults.length === 0 || !isChanging ? origin : undefined;
  };
  const verified = await poll(look, { seconds: consumerTimeout, every: pollInterval, signal });
  if (verified && faults.length === 0) return verified.gateway;
  throw new CommandFailed(
    `Stack ${clients.stackId} is in ${formatLocation(stack)}, but ${faults.join('; ')}.`,
  );
}
