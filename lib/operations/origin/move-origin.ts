import { type Command, InvalidArgumentError } from 'commander';
import { CommandFailed, UsedWrongly } from '../failure';
import { type CommonOptions, interval, withEnvironment } from '../options';
import { openTarget, type Target } from '../target';
import type { Terminal } from '../terminal';
import { openOriginApis } from './apis';
import { move, readPlan, verify } from './move';
import { describeSteps, type Step } from './move-plan';
import type { OriginStack } from './stack';

interface MoveOriginOptions extends CommonOptions {
  readonly zone: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  /** Seconds. */
  readonly interval: number;
}

const help = `
The address stays the same, the API keeps serving, and no webhook is lost: they wait while the address is on no
gateway, for some minutes. The command can be interrupted at any point: run it again, and it goes on where it stood.

It needs cloudformation:DescribeStacks, DescribeStackEvents, ListStackResources and UpdateStack on the stack,
ec2:DescribeAddresses, DescribeNatGateways and DescribeSubnets, and lambda:GetEventSourceMapping.

Examples:
  wallet move-origin --outputs outputs.json --zone 2 --dry-run          what it would do
  wallet move-origin --outputs outputs.json --zone 2
  wallet move-origin --environment uae --outputs outputs.json --zone 3 --yes --json`;

export function register(program: Command, terminal: Terminal): void {
  withEnvironment(program.command('move-origin'))
    .summary('move the webhook origin to another zone, with its address')
    .description('Moves the NAT gateway and the fixed webhook origin address to another availability zone.')
    .requiredOption('--zone <number>', 'the zone to move to, from 1', zoneNumber)
    .option('--yes', 'do it without asking')
    .option('--dry-run', 'print what would be done, and do nothing')
    .addOption(interval())
    .addHelpText('after', help)
    .action((options: MoveOriginOptions) => moveOrigin(options, terminal));
}

async function moveOrigin(options: MoveOriginOptions, terminal: Terminal): Promise<void> {
  const { zone, json } = options;
  const target = await openTarget(options, terminal);
  refuseWhatCannotBe(target, zone);
  const apis = await openOriginApis(target);
  const { stack, steps } = await readPlan(apis, zone);
  refuseOtherAddress(target, stack);

  const plan = { environment: options.environment, stack: stack.name, address: stack.address, zone };
  if (options.dryRun) {
    const updates = steps.map((step) => ({ step: step.kind, zone: step.zone }));
    const printed = json
      ? JSON.stringify({ ...plan, from: stack.zone, steps: updates })
      : inWords(stack, steps, zone);
    return terminal.result(printed);
  }
  terminal.note(inWords(stack, steps, zone));
  if (steps.length > 0 && !options.yes) await confirm(terminal);

  const following = { interval: options.interval * 1000, report: terminal.note };
  const updates = await move(apis, zone, following);
  const { gateway } = await verify(apis, stack, zone, following);
  const { id: natGatewayId, availabilityZone } = gateway ?? {};
  terminal.result(
    json
      ? JSON.stringify({ ...plan, availabilityZone, natGatewayId, updates })
      : `The webhook origin of ${options.environment} is in zone ${zone} (${availabilityZone}): gateway ${natGatewayId} sends from ${stack.address}, and the consumers are on.`,
  );
}

function inWords(
  { name, region, address, zone: from }: OriginStack,
  steps: readonly Step[],
  zone: string,
): string {
  if (steps.length === 0) return `Stack ${name} (${region}) is in zone ${zone}: there is nothing to do.`;
  const heading = `Stack ${name} (${region}), webhook origin ${address}, from zone ${from} to zone ${zone}:`;
  return [heading, ...describeSteps(steps, address)].join('\n');
}

async function confirm(terminal: Terminal): Promise<void> {
  if (!terminal.ask) {
    throw new UsedWrongly('There is no terminal to confirm this on.', 'Add --yes to do it without asking.');
  }
  const answer = await terminal.ask('Do it? [y/N] ');
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailed('Nothing was changed.');
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

function zoneNumber(text: string): string {
  if (/^[1-9]$/.test(text)) return text;
  throw new InvalidArgumentError('Give the number of a zone, such as 2.');
}
