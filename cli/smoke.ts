import { performance } from 'node:perf_hooks';
import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import type { Attempt } from '../domain/delivery';
import { newEventId } from '../domain/event';
import { type ApiResponse, callApi, unexpectedResponse } from './api';
import { listAuditRecords } from './audit';
import { sendDeletion } from './delete-group';
import { requireDelivered, waitForAttempt } from './delivery-outcome';
import { CommandFailed, UsedWrongly } from './failure';
import { awaitInterruption } from './interruption';
import { runOperation } from './operations-function';
import { type CommonOptions, duration, port, withEnvironment } from './options';
import { describeStack, openOriginClients } from './origin/origin';
import { allowProduction, requireProductionAllowed } from './production-guard';
import { type ReceivedRequest, verify } from './receiver';
import { putEvent } from './send-event';
import { openSmokeReceiver, type ReceiverOptions, sourceOf } from './smoke-receiver';
import { createSteps, type StepResult } from './smoke-steps';
import { openTarget, type Target } from './target';
import type { Terminal } from './terminal';
import { openWebhookSecrets, receiverUrl } from './webhooks';

interface SmokeOptions extends CommonOptions, ReceiverOptions {
  readonly withoutWebhook?: boolean;
  /** Seconds. */
  readonly timeout: number;
  readonly allowProduction?: boolean;
}

const help = `
On this machine the command runs the receiver itself. A deployed environment reaches public https URLs only:
  --receiver-url URL                        any receiver that answers 2xx. Signature and source address are then not
                                            checked: only that receiver sees them
  --receiver-listen PORT --receiver-url URL the command's own, when the URL leads to 127.0.0.1:PORT (by a tunnel, or a
                                            proxy with a certificate that adds X-Forwarded-For): all is checked
  --without-webhook                         leaves webhooks out

It cleans up after a failure and after Ctrl-C, too. The audit record and the attempt stay, as they always do. What a
run that was killed left behind is removed by the next run a day later.

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
      duration('--timeout <duration>', 'how long to wait for the delivery', { usual: '2m', most: '15m' }),
    )
    .addOption(allowProduction())
    .addHelpText('after', help)
    .action((options: SmokeOptions) => smoke(options, terminal));
}

async function smoke(options: SmokeOptions, terminal: Terminal): Promise<void> {
  const { withoutWebhook, receiverUrl, receiverListen, json, environment, timeout } = options;
  if (withoutWebhook && (receiverUrl ?? receiverListen) !== undefined)
    throw new UsedWrongly('Give a receiver or --without-webhook, not both.');
  const target = await openTarget(options, terminal);
  requireProductionAllowed(target, options, '"smoke" makes an organization there, and removes it again');
  const eventId = newEventId();
  const receiver = withoutWebhook ? undefined : await openSmokeReceiver(target, eventId, options);

  const begun = performance.now();
  const { signal, forget } = awaitInterruption();
  if (!json) terminal.result(terminal.bold(formatRow('RESULT', 'TIME', 'STEP', 'FOUND')));
  const { results, step, lastStep, leaveOut } = createSteps(signal, (result) => {
    if (json) return;
    const { outcome, ms, name, detail } = result;
    const line = formatRow(outcome, ms === null ? '' : formatSeconds(ms), name, detail);
    terminal.result(outcome === 'failed' ? terminal.bad(line) : line);
  });

  const made = await step('make an ephemeral organization', true, async () => {
    const value = await runOperation(target, 'seed', { userGroupName: 'Smoke test', ephemeral: true });
    return { value, detail: value.organizationId };
  });
  try {
    const deleteGroup = ({ userGroupId, callerId: sub, organizationId: org }: NonNullable<typeof made>) =>
      sendDeletion(target, { sub, org, kind: 'CustomerEmployee' }, userGroupId, signal);

    const deleted = await step('delete its user group by the API', made, async (value) => {
      const { request, answer } = await deleteGroup(value);
      if (answer.status !== 200 || !isDeepStrictEqual(answer.body, {}))
        unexpectedResponse(target, request, answer, '200 {}');
      return { value, detail: '200 {}' };
    });

    await step('delete it again: it is gone', deleted, async (value) => {
      const { request, answer } = await deleteGroup(value);
      const { code } = Object(answer.body) as { readonly code?: string };
      if (answer.status !== 404 || code !== 'user_group_not_found')
        unexpectedResponse(target, request, answer, '404 user_group_not_found');
      return { value, detail: '404 user_group_not_found' };
    });

    await step('find the deletion in the audit', deleted, async ({ userGroupId, callerId }) => {
      const records = await listAuditRecords(target, userGroupId);
      const value = records.find(
        ({ outcome, identityId }) => outcome === 'deleted' && identityId === callerId,
      );
      if (value) return { value, detail: `${value.operation} by ${callerId}` };
      throw new CommandFailed(
        `The audit has ${records.length} records of ${userGroupId}, and none says that ${callerId} deleted it.`,
        `Look into the log of the function that deletes user groups, in ${target.logs}.`,
      );
    });

    await step('compare GET /webhook-origins', true, async () => {
      const request = { method: 'GET', path: '/webhook-origins' } as const;
      return compareOrigins(target, await callApi(target, request, signal));
    });

    const webhookStep = receiver ? step : leaveOut('left out: --without-webhook', false);
    const added = await webhookStep('add a webhook', made, async ({ organizationId }) => {
      const url = receiver?.url ?? '';
      const webhook = await runOperation(target, 'add-webhook', { organizationId, url, kinds: null });
      const { webhookId, secretVersion } = webhook;
      const secret = await (await openWebhookSecrets(target))(webhookId, secretVersion);
      return { value: { organizationId, webhookId, secret }, detail: `${webhookId} to ${url}` };
    });

    const sent = await webhookStep('send an event', added, async ({ organizationId, ...webhook }) => {
      const event = { id: eventId, organizationId, kind: 'smoke.test', data: '{"smoke":true}' };
      await putEvent(target, event);
      return { value: { ...webhook, event, eventId }, detail: eventId };
    });

    let hasWaited = false;
    const wait = () => ({ seconds: hasWaited ? 0 : timeout, signal });
    const seenStep =
      receiver && !receiver.delivery
        ? leaveOut('only the receiver sees it: --receiver-listen checks it', sent === undefined)
        : webhookStep;

    const arrived = await seenStep('receive the delivery', sent, async (value) => {
      const began = Date.now();
      const arrival = await receiver?.delivery?.(timeout, signal);
      hasWaited = !arrival;
      if (arrival)
        return {
          value: { ...value, arrival },
          detail: `${((Date.now() - began) / 1_000).toFixed(1)} s after it was sent`,
        };
      requireDelivered(await waitForAttempt(target, value, wait()));
      throw new CommandFailed(`The delivery reached another receiver than this one within ${timeout} s.`);
    });

    await seenStep('verify its signature', arrived, async ({ arrival, secret, event }) => {
      const reason = verify(arrival, secret);
      if (reason)
        throw new CommandFailed(
          `The delivery does not verify: ${reason}.`,
          'Check that the delivery function and WebhookSecretsKeyArn in the outputs file are of the same stack, and the clock of this machine.',
        );
      const { id, organizationId, kind, data } = JSON.parse(arrival.body) as Record<string, unknown>;
      const due = { ...event, data: JSON.parse(event.data) };
      if (isDeepStrictEqual({ id, organizationId, kind, data }, due))
        return { value: true, detail: `Standard Webhooks, ${String(arrival.headers['webhook-id'])}` };
      throw new CommandFailed('The delivery is signed, but has another event than the one that was sent.');
    });

    await seenStep('compare its source address', arrived, ({ arrival }) => compareSource(target, arrival));

    await webhookStep('find the attempt recorded', sent, async (value) => {
      const isOver = ({ outcome }: Attempt) => outcome !== 'failed';
      const attempt = await waitForAttempt(target, value, { ...wait(), isOver });
      requireDelivered(attempt);
      return { value: attempt, detail: `answered ${attempt.status} after ${attempt.durationMs} ms` };
    });
  } finally {
    await lastStep('clean up', made, async ({ organizationId }) => {
      const { removed } = await runOperation(target, 'remove-ephemeral-organizations', { organizationId });
      return { value: removed, detail: `removed ${removed.join(', ')}` };
    });
    forget();
    await receiver?.close();
  }

  const ms = Math.round(performance.now() - begun);
  const passed = results.every(({ outcome }) => outcome === 'passed' || outcome === 'unchecked');
  if (json) {
    const organizationId = made?.organizationId ?? null;
    terminal.result(JSON.stringify({ environment, passed, ms, organizationId, eventId, steps: results }));
  }
  const summary = `${environment}: ${countOutcomes(results)}, in ${formatSeconds(ms)}.`;
  if (passed) return terminal.note(summary);
  for (const { name, remedy } of results) if (remedy) terminal.note(`To "${name}": ${remedy}`);
  throw new CommandFailed(`${signal.aborted ? 'Interrupted. ' : ''}${summary}`);
}

/** Expects the address and the reserve of the stack's outputs, and no others. */
export function compareOrigins(target: Target, answer: ApiResponse) {
  const reserve = target.optionalOutput('WebhookOriginReserveAddress');
  const due = {
    environment: target.environment.name,
    addresses: [`${target.output('WebhookOriginAddress')}/32`],
    ...(reserve && { reserve: [`${reserve}/32`] }),
  };
  const { environment, addresses, reserve: published } = Object(answer.body);
  const found = { environment, addresses, ...(published !== undefined && { reserve: published }) };
  if (answer.status !== 200 || !isDeepStrictEqual(found, due)) {
    const isOurs = environment !== undefined && addresses !== undefined;
    const request = { method: 'GET', path: '/webhook-origins' } as const;
    unexpectedResponse(target, request, answer, `200 with ${JSON.stringify(due)}`, isOurs);
  }
  return { value: due, detail: [...due.addresses, ...(reserve ? [`reserve ${reserve}/32`] : [])].join(', ') };
}

/**
 * Expects the address that receivers have on their allow-lists: the reserve only while the stack says that it is in use,
 * because not every receiver allows it.
 */
export async function compareSource(target: Target, arrival: ReceivedRequest) {
  const expected = target.output('WebhookOriginAddress');
  const source = sourceOf(arrival);
  if (source === expected) return { value: source, detail: source };
  if (source === target.optionalOutput('WebhookOriginReserveAddress')) {
    const stack = target.offers('cloudformation')
      ? await describeStack(await openOriginClients(target))
      : undefined;
    if (stack?.reserve) return { value: source, detail: `${source}, the reserve, which is in use` };
    throw new CommandFailed(
      `The delivery came from the reserve ${source}, which stack ${target.environment.stackId} has not put in use: receivers expect ${expected}.`,
      `See ${target.paste('origin-status')}`,
    );
  }
  const forwarded = arrival.headers['x-forwarded-for'];
  throw new CommandFailed(
    `The delivery came from ${source}, not from ${expected}. The listener saw ${arrival.from}, X-Forwarded-For says ${forwarded ?? 'nothing'}.`,
    forwarded
      ? `If a content delivery network stands between, lead the URL past it. Otherwise see ${target.paste('origin-status')}`
      : 'Have the proxy or tunnel before the listener add X-Forwarded-For.',
  );
}

function countOutcomes(steps: readonly StepResult[]): string {
  return (['passed', 'failed', 'skipped', 'unchecked'] as const)
    .map((outcome) => [steps.filter((step) => step.outcome === outcome).length, outcome] as const)
    .filter(([count]) => count > 0)
    .map(([count, outcome]) => `${count} ${outcome}`)
    .join(', ');
}

/** Of the table, whose lines appear one by one. */
const formatRow = (result: string, took: string, step: string, found: string) =>
  `${result.padEnd(9)}  ${took.padStart(8)}  ${step.padEnd(32)}  ${found}`.trimEnd();

const formatSeconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;
