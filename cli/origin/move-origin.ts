import { type Command, InvalidArgumentError } from 'commander';
import { CommandFailed, UsedWrongly } from '../failure';
import { type CommonOptions, interval, time, withEnvironment } from '../options';
import { walletCommand } from '../pasted-command';
import { openTarget, type Target } from '../target';
import type { Terminal } from '../terminal';
import { openOriginApis } from './apis';
import { move } from './move';
import { type Plan, readPlan } from './move-facts';
import { type Place, placeInWords } from './place';
import { addressAt, describeStack, type OriginStack } from './stack';
import { describeSteps } from './step-words';
import { verify } from './verify';

interface MoveOriginOptions extends CommonOptions {
  readonly zone: string;
  readonly reserve?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  /** Seconds. */
  readonly timeout: number;
  /** Seconds. */
  readonly interval: number;
}

const help = `
The address stays the same, the API keeps serving, and no webhook is lost: they wait while the address is on no
gateway, for some minutes. The command can be interrupted at any point: run it again, and it goes on where it stood.

A zone that is down may hold the address for hours. The command then says which gateway and interface EC2 names, waits
for --timeout in all, and exits with 1 and the command that goes on. It deletes a gateway that CloudFormation has left
behind, cancels its own update to another zone after 15 minutes, and continues a rollback of its own that failed.
With --reserve webhooks come from the reserve address, in one update that waits for nothing of the old zone; without it,
they come from the one address again, as soon as that is free.

It needs cloudformation:DescribeStacks, DescribeStackEvents, ListStackResources and UpdateStack on the stack,
ec2:DescribeAddresses, DescribeNatGateways and DescribeSubnets, and lambda:GetEventSourceMapping. When a zone is down,
it may need cloudformation:CancelUpdateStack and ContinueUpdateRollback on the stack, and ec2:DeleteNatGateway.

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
    .addOption(time('--timeout <time>', 'how long to wait in all', { usual: '1h', atMost: '24h' }))
    .addOption(interval())
    .addHelpText('after', help)
    .action((options: MoveOriginOptions) => moveOrigin(options, terminal));
}

async function moveOrigin(options: MoveOriginOptions, terminal: Terminal): Promise<void> {
  const { zone, reserve = false, json } = options;
  const destination = { zone, reserve };
  const target = await openTarget(options, terminal);
  refuseWhatCannotBe(target, zone);
  const apis = await openOriginApis(target);
  const before = await describeStack(apis);
  refuseOtherAddress(target, before);
  if (reserve) refuseOtherReserve(target, before);
  const { stack, steps } = await readPlan(apis, destination);

  const address = addressAt(stack, destination);
  const plan = { environment: options.environment, stack: stack.name, address, ...destination };
  const words = inWords({ stack, steps }, destination);
  if (options.dryRun) {
    const from = { from: stack.zone, fromReserve: stack.reserve };
    return terminal.result(json ? JSON.stringify({ ...plan, ...from, steps: steps.map(asJson) }) : words);
  }
  terminal.note(words);
  const confirm = (question: string) => (options.yes ? Promise.resolve() : askWhether(terminal, question));
  if (steps.length > 0) await confirm('Do it?');

  const seconds = { interval: options.interval * 1000, timeout: options.timeout * 1000 };
  const updates = await move(apis, destination, {
    interval: seconds.interval,
    deadline: Date.now() + seconds.timeout,
    again: commandOf(options),
    report: terminal.note,
    confirm,
  });
  const { state, stack: after } = await verify(apis, stack, destination, seconds.interval);
  const { id: natGatewayId, availabilityZone } = state.gateway ?? {};
  if (after.status === 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS')
    terminal.note(
      'CloudFormation still deletes the old gateway. Webhooks do not wait for it; the stack takes no other update until that ends.',
    );
  terminal.result(
    json
      ? JSON.stringify({ ...plan, availabilityZone, natGatewayId, updates })
      : `The webhook origin of ${options.environment} is in zone ${zone} (${availabilityZone}): gateway ${natGatewayId} sends from ${reserve ? `the reserve address ${address}` : address}, and the consumers are on.`,
  );
}

function inWords({ stack, steps }: Plan, destination: Place): string {
  const { name, region } = stack;
  const to = placeInWords(destination);
  if (steps.length === 0) return `Stack ${name} (${region}) is in ${to}: there is nothing to do.`;
  const heading = `Stack ${name} (${region}), webhook origin ${addressAt(stack, destination)}, from ${placeInWords(stack)} to ${to}:`;
  return [heading, ...describeSteps(steps, stack)].join('\n');
}

/** A step of `--dry-run --json`. */
function asJson(step: Plan['steps'][number]) {
  const { kind } = step;
  if (kind === 'skip') return { step: kind, resources: step.resources };
  if (kind !== 'free') return { step: kind, ...step.place };
  const { holder, orphan = null } = step;
  return { step: kind, heldBy: holder.id, gateway: holder.gateway?.id ?? null, orphan };
}

const commandOf = ({ zone, reserve, yes, ...options }: MoveOriginOptions): string =>
  `${walletCommand('move-origin', options)} --zone ${zone}${reserve ? ' --reserve' : ''}${yes ? ' --yes' : ''}`;

async function askWhether(terminal: Terminal, question: string): Promise<void> {
  if (!terminal.ask) {
    throw new UsedWrongly('There is no terminal to confirm this on.', 'Add --yes to do it without asking.');
  }
  const answer = await terminal.ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailed('Nothing more was changed.');
}

function refuseWhatCannotBe({ environment, offers }: Target, zone: string): void {
  if (!offers('cloudformation')) {
    throw new UsedWrongly(
      `Environment ${environment.name} runs on this machine, which has neither zones nor gateways: move-origin is for deployed environments.`,
      'Give the outputs file of the deployment with --outputs.',
    );
  }
  if (Number(zone) > environment.zones.length) {
    throw new UsedWrongly(
      `Environment ${environment.name} has no zone ${zone}.`,
      `Give a zone from 1 to ${environment.zones.length}.`,
    );
  }
}

/** The outputs file is of another deployment, or the promise to the receivers is broken already. */
function refuseOtherAddress(target: Target, { name, address }: OriginStack): void {
  const expected = target.output('WebhookOriginAddress');
  if (expected !== address) {
    throw new CommandFailed(
      `Stack ${name} has the webhook origin ${address}, the outputs file has ${expected}.`,
      'Check the AWS account you are signed in to and the outputs file, before anything is moved.',
    );
  }
}

/** Receivers allow the reserve that they were told of, and no other. */
function refuseOtherReserve(target: Target, { name, reserveAddress }: OriginStack): void {
  if (reserveAddress === undefined) {
    throw new UsedWrongly(
      `Stack ${name} has no reserve address.`,
      'Move without --reserve. To have one in the next emergency: "webhookOrigin: { reserve: true }" in the row, deploy it, and tell receivers its address.',
    );
  }
  const expected = target.output('WebhookOriginReserveAddress');
  if (expected !== reserveAddress) {
    throw new CommandFailed(
      `Stack ${name} has the reserve ${reserveAddress}, the outputs file has ${expected}.`,
      'Check the AWS account you are signed in to and the outputs file, before anything is moved.',
    );
  }
}

function zoneNumber(text: string): string {
  if (/^[1-9]$/.test(text)) return text;
  throw new InvalidArgumentError('Give the number of a zone, such as 2.');
}
