import { type Command, InvalidArgumentError } from 'commander';
import { CommandFailed, UsedWrongly } from '../failure';
import { type CommonOptions, withEnvironment } from '../options';
import { openTarget, type Target } from '../target';
import type { Terminal } from '../terminal';
import { move, updatesBetween } from './move';
import {
  addressAt,
  describeStack,
  formatPlace,
  noZone,
  type OriginStack,
  openOriginClients,
  type Place,
  requireAddress,
} from './origin';

interface MoveOriginOptions extends CommonOptions {
  readonly zone: string;
  readonly reserve?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

const help = `
The address stays the same, the API keeps serving, and no webhook is lost: they wait for some minutes. The command can
be interrupted at any point: run it again, and it continues from where the stack is.

With --reserve webhooks come from the reserve address, after one update that needs nothing of the old zone; without it,
they come from the one address again.

Examples:
  wallet move-origin --outputs outputs.json --zone 2 --dry-run          what it would do
  wallet move-origin --outputs outputs.json --zone 2
  wallet move-origin --outputs outputs.json --zone 2 --reserve          in an announced emergency
  wallet move-origin --environment uae --outputs outputs.json --zone 3 --yes --json`;

export function register(program: Command, terminal: Terminal): void {
  withEnvironment(program.command('move-origin'))
    .summary('move the webhook origin to another zone, with its address')
    .description('Moves the NAT gateway and the fixed webhook origin address to another availability zone.')
    .requiredOption('--zone <number>', 'the zone to move to, from 1', zoneNumber)
    .option('--reserve', 'with the reserve address instead of the one address')
    .option('--no-reserve', 'with the one address (default)')
    .option('--yes', 'do it without asking')
    .option('--dry-run', 'print what would be done, and do nothing')
    .addHelpText('after', help)
    .action((options: MoveOriginOptions) => moveOrigin(options, terminal));
}

async function moveOrigin(options: MoveOriginOptions, terminal: Terminal): Promise<void> {
  const { zone, reserve = false, environment, json } = options;
  const destination = { zone, reserve };
  const target = await openTarget(options, terminal);
  refuseImpossible(target, zone);
  const clients = await openOriginClients(target);
  const before = await describeStack(clients);
  refuseOtherAddress(target, before, destination);
  // In an emergency EC2 may not answer.
  if (!reserve) await requireAddress(clients, before.address);

  const address = addressAt(before, destination);
  const plan = { environment, stack: target.environment.stackId, address, ...destination };
  const updates = updatesBetween(before, destination);
  const words = describePlan(target, before, destination, updates);
  if (options.dryRun) {
    const from = { from: before.zone, fromReserve: before.reserve };
    const steps = updates.map((place) => ({ step: 'update', ...place }));
    return terminal.result(json ? JSON.stringify({ ...plan, ...from, steps }) : words);
  }
  terminal.note(words);
  if (updates.length > 0 && !options.yes) await confirm(terminal);

  const moved = await move(clients, destination, terminal.note).catch((error) => {
    if (!(error instanceof CommandFailed)) throw error;
    throw new CommandFailed(
      error.message,
      `${error.remedy ? `${error.remedy} ` : ''}See "If a move fails" in docs/runbook.md; the same command continues the move.`,
    );
  });
  if (moved.stack.status.endsWith('_IN_PROGRESS'))
    terminal.note(
      'CloudFormation still deletes the old gateway. Webhooks do not wait for that, but the stack takes no other update.',
    );
  const { id: natGatewayId, availabilityZone } = moved.gateway ?? {};
  terminal.result(
    json
      ? JSON.stringify({ ...plan, availabilityZone, natGatewayId, updates: moved.updates })
      : `The webhook origin of ${environment} is in zone ${zone} (${availabilityZone}): gateway ${natGatewayId} sends from ${reserve ? `the reserve address ${address}` : address}, and the consumers are on.`,
  );
}

function describePlan(
  { environment: { stackId, region } }: Target,
  stack: OriginStack,
  destination: Place,
  updates: readonly Place[],
): string {
  const to = formatPlace(destination);
  const is = `Stack ${stackId} (${region}, ${stack.status})`;
  if (updates.length === 0) return `${is} is in ${to}: there is nothing to do.`;
  const steps = updates.map((place, index) => {
    const effect =
      place.zone === noZone
        ? 'the consumers go off, then routes and gateway go. Webhooks wait.'
        : `a gateway with ${addressAt(stack, place)}, routes to it, consumers on. Webhooks go out.`;
    return `  ${index + 1}. Update the stack to ${formatPlace(place)}: ${effect}`;
  });
  const from = formatPlace(stack);
  return [`${is}, webhook origin ${addressAt(stack, destination)}, from ${from} to ${to}:`, ...steps].join(
    '\n',
  );
}

async function confirm(terminal: Terminal): Promise<void> {
  if (!terminal.ask)
    throw new UsedWrongly('There is no terminal to confirm this on.', 'Add --yes to do it without asking.');
  const answer = await terminal.ask('Do it? [y/N] ');
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailed('Nothing was changed.');
}

function refuseImpossible({ environment, offers }: Target, zone: string): void {
  if (!offers('cloudformation'))
    throw new UsedWrongly(
      `Environment ${environment.name} runs on this machine, which has neither zones nor gateways: move-origin is for deployed environments.`,
      'Give the outputs file of the deployment with --outputs.',
    );
  if (Number(zone) > environment.zones.length)
    throw new UsedWrongly(
      `Environment ${environment.name} has no zone ${zone}.`,
      `Give a zone from 1 to ${environment.zones.length}.`,
    );
}

/** Receivers allow the addresses that they were told of, and no others. */
function refuseOtherAddress(target: Target, stack: OriginStack, { reserve }: Place): void {
  const { stackId } = target.environment;
  if (reserve && stack.reserveAddress === undefined)
    throw new UsedWrongly(
      `Stack ${stackId} has no reserve address.`,
      'Move without --reserve. To have one in the next emergency: "webhookOrigin: { reserve: true }" in the row, deploy it, and tell receivers its address.',
    );
  const addresses = [
    ['webhook origin', target.output('WebhookOriginAddress'), stack.address],
    ['reserve', reserve ? target.output('WebhookOriginReserveAddress') : undefined, stack.reserveAddress],
  ] as const;
  for (const [name, expected, found] of addresses) {
    if (expected !== undefined && expected !== found)
      throw new CommandFailed(
        `Stack ${stackId} has the ${name} ${found}, the outputs file has ${expected}.`,
        'Check the AWS account you are signed in to and the outputs file, before anything is moved.',
      );
  }
}

function zoneNumber(text: string): string {
  if (/^[1-9]$/.test(text)) return text;
  throw new InvalidArgumentError('Give the number of a zone, such as 2.');
}
