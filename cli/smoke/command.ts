import { performance } from 'node:perf_hooks';
import type { Command } from 'commander';
import { newEventId } from '../../domain/event';
import { CommandFailed, UsedWrongly } from '../failure';
import { awaitInterruption } from '../interruption';
import { type CommonOptions, port, time, withEnvironment } from '../options';
import { allowProduction, requireProductionAllowed } from '../production-guard';
import { openTarget } from '../target';
import type { Terminal } from '../terminal';
import { receiverUrl } from '../webhook/receiver-url';
import { check, stepNames } from './check';
import { openReceiver, type ReceiverOptions } from './receiver';
import { createRun, type StepOutcome, type StepResult } from './run';

interface SmokeOptions extends CommonOptions, ReceiverOptions {
  readonly withoutWebhook?: boolean;
  /** Seconds. */
  readonly timeout: number;
  readonly allowProduction?: boolean;
}

const help = `
On this machine the command runs the receiver itself. A deployed environment reaches public https URLs alone:
  --receiver-url URL                        any receiver that answers 2xx. Signature and source address are then not
                                            checked: only that receiver sees them
  --receiver-listen PORT --receiver-url URL the command's own, when the URL leads to 127.0.0.1:PORT (by a tunnel, or a
                                            proxy with a certificate that adds X-Forwarded-For): all is checked
  --without-webhook                         leaves webhooks out

It cleans up after a failure and after Ctrl-C, too. The audit record and the attempt stay, as they always do. What a
run that was killed left behind is removed by the next run a day later.

Needs lambda:InvokeFunction on OperationsFunctionName, kms:GetPublicKey and kms:Sign on TokenSigningKeyArn and
UserActionSigningKeyArn, kms:GenerateMac on WebhookSecretsKeyArn, and sqs:SendMessage on the queue in
WebhookEventsQueueUrl.

Exit codes: 0 every step passed or could not be checked from here, 1 a step failed or was skipped, 2 used wrongly.

Examples:
  wallet smoke                                           the environment eu of this machine
  wallet smoke --environment uae --json
  wallet smoke --outputs outputs.json --allow-production --receiver-url https://hooks.customer.com/wallet
  wallet smoke --outputs outputs.json --allow-production --receiver-listen 8010 --receiver-url https://tunnel.customer.com/`;

export function register(program: Command, terminal: Terminal): void {
  withEnvironment(program.command('smoke'))
    .summary('go through an environment: a deletion, its audit, a signed webhook')
    .description(
      'Checks an environment as its users see it: deletes a user group by the API, finds it in the audit, and has a signed webhook delivered. What it makes for that, it removes again.',
    )
    .option('--receiver-url <url>', 'where the webhook goes: https, with a public name', receiverUrl)
    .option(
      '--receiver-listen <port>',
      'where the command listens on 127.0.0.1; 0 takes any free port',
      port(0),
    )
    .option('--without-webhook', 'leave webhooks out')
    .addOption(
      time('--timeout <time>', 'how long the delivery is waited for', { usual: '2m', atMost: '15m' }),
    )
    .addOption(allowProduction())
    .addHelpText('after', help)
    .action((options: SmokeOptions) => smoke(options, terminal));
}

async function smoke(options: SmokeOptions, terminal: Terminal): Promise<void> {
  const { withoutWebhook, receiverUrl, receiverListen, json } = options;
  if (withoutWebhook && (receiverUrl ?? receiverListen) !== undefined)
    throw new UsedWrongly('Give a receiver or --without-webhook, not both.');
  const target = await openTarget(options, terminal);
  requireProductionAllowed(target, options, '"smoke" makes an organization there, and removes it again');

  const eventId = newEventId();
  const receiver = withoutWebhook ? undefined : await openReceiver(target, eventId, options);
  const begun = performance.now();
  const { signal, forget } = awaitInterruption();
  const run = createRun(signal, json ? () => undefined : printStep(terminal));
  if (!json) terminal.result(terminal.bold(row('RESULT', 'TIME', 'STEP', 'FOUND')));
  const made = await check({ target, run, signal, seconds: options.timeout, receiver, eventId }).finally(
    async () => {
      forget();
      await receiver?.close();
    },
  );

  const ms = Math.round(performance.now() - begun);
  const { results: steps } = run;
  const passed = steps.every(({ outcome }) => outcome === 'passed' || outcome === 'unchecked');
  if (json) {
    const { environment } = options;
    const organizationId = made?.organizationId ?? null;
    terminal.result(JSON.stringify({ environment, passed, ms, organizationId, eventId, steps }));
  }
  const summary = `${options.environment}: ${counts(steps)}, in ${inSeconds(ms)}.`;
  if (passed) return terminal.note(summary);
  for (const { name, remedy } of steps) if (remedy) terminal.note(`To "${name}": ${remedy}`);
  throw new CommandFailed(`${signal.aborted ? 'Interrupted. ' : ''}${summary}`);
}

/** In the order in which they are told. */
const outcomes = ['passed', 'failed', 'skipped', 'unchecked'] as const satisfies readonly StepOutcome[];

function counts(steps: readonly StepResult[]): string {
  return outcomes
    .map((outcome) => [steps.filter((step) => step.outcome === outcome).length, outcome] as const)
    .filter(([count]) => count > 0)
    .map(([count, outcome]) => `${count} ${outcome}`)
    .join(', ');
}

const printStep =
  (terminal: Terminal) =>
  ({ outcome, ms, name, detail }: StepResult): void => {
    const line = row(outcome, ms === null ? '' : inSeconds(ms), name, detail);
    terminal.result(outcome === 'failed' ? terminal.bad(line) : line);
  };

const nameWidth = Math.max(...Object.values(stepNames).map((name) => name.length));

/** Of the table, whose lines appear one by one. */
const row = (result: string, took: string, step: string, found: string) =>
  `${result.padEnd(9)}  ${took.padStart(8)}  ${step.padEnd(nameWidth)}  ${found}`.trimEnd();

const inSeconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;
