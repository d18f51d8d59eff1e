import { performance } from 'node:perf_hooks';
import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import type { Attempt } from '../domain/delivery';
import { newEventId } from '../domain/event';
import { reserveOutputs } from '../domain/outputs';
import { type ApiResponse, apiDomainTarget, callApi, sendDeletion, unexpectedResponse } from './callers/api';
import type { DeployedEnvironment } from './shell/deployed-environment';
import { environmentCommand } from './shell/deployed-environment';
import { CommandFailed } from './shell/failure';
import { awaitInterruption } from './shell/interruption';
import { runOperation } from './shell/operations';
import type { CommonOptions } from './shell/options';
import { poll } from './shell/poll';
import type { Terminal } from './shell/terminal';
import { requireDelivered, waitForAttempt } from './webhooks/attempts';
import { checkEvent, putEvent } from './webhooks/queue';

const help = `The environment is its own receiver: it verifies the signature and the source address of the webhook that it sends.

It also cleans up after a failure and after Ctrl-C. The audit record and the attempt remain. If a run is killed, the first
run after 24 hours removes its organization.

With a custom domain name, requests go to the stack itself (the output ApiDomainTarget). While DNS leads elsewhere, the step that
says so and the steps about the delivery, which goes where DNS leads, are "pending": point the CNAME record there, and run it again.

Exit codes: 0 every step passed or is pending, 1 a step failed or was skipped, 2 usage error.`;

export function register(program: Command, terminal: Terminal): void {
  environmentCommand(program, terminal, 'smoke', {
    summary: 'test an environment end to end: a deletion, its audit record, a signed webhook',
    help,
    production: '"smoke" creates an organization there and removes it afterwards',
    run: (target, options) => smoke(target, options, terminal),
  });
}

/** Seconds to wait for the delivery. */
const deliveryTimeout = 120;

const lastStep = 'clean up';

async function smoke(
  target: DeployedEnvironment,
  { json, environment }: CommonOptions,
  terminal: Terminal,
): Promise<void> {
  const eventId = newEventId();

  const begun = performance.now();
  const { signal, forget } = awaitInterruption();
  const { steps, step } = createSteps(signal, json ? undefined : terminal);

  const organization = await step('create an ephemeral organization', true, async () => {
    const seeded = await runOperation(target, 'seed', { userGroupName: 'Smoke test', ephemeral: true });
    return [seeded.organizationId, seeded];
  });
  try {
    type Organization = NonNullable<typeof organization>;
    const deleteGroup = async ({ userGroupId, callerId, organizationId }: Organization, expected: string) => {
      const caller = { sub: callerId, org: organizationId, kind: 'CustomerEmployee' };
      const { request, answer } = await sendDeletion(target, caller, userGroupId, signal);
      const found = `${answer.status} ${Object(answer.body).code ?? JSON.stringify(answer.body)}`;
      return found === expected ? found : unexpectedResponse(target, request, answer, expected);
    };
    const deleted = await step('delete its group through the API', organization, async (group) => [
      await deleteGroup(group, '200 {}'),
      group,
    ]);
    await step('delete it again: expect 404', deleted, async (group) => [
      await deleteGroup(group, '404 user_group_not_found'),
    ]);
    await step('find the audit record', deleted, async ({ userGroupId, callerId }) => {
      const { records } = await runOperation(target, 'list-audit-records', { userGroupId });
      const record = records.find((each) => each.outcome === 'deleted' && each.identityId === callerId);
      if (record) return [`${record.operation} by ${callerId}`];
      throw new CommandFailed(
        `None of the ${records.length} audit records of ${userGroupId} is of its deletion by ${callerId}.`,
        `See the log of the function that deletes user groups, in ${target.logs}.`,
      );
    });
    const origins = await step('check GET /webhook-origins', true, async () => {
      const found = compareOrigins(target, await callApi(target, originsRequest, signal));
      return [found, found];
    });
    const isElsewhere = apiDomainTarget(target)
      ? await step('follow DNS to this stack', origins, () => followDns(target, signal))
      : false;

    const webhook = await step('add a webhook', organization, async ({ organizationId }) => {
      const input = { organizationId, kinds: null, check: true };
      const { webhookId, url } = await runOperation(target, 'add-webhook', input);
      return [`${webhookId} to ${url}`, { organizationId, webhookId }];
    });
    const sent = await step('send an event', webhook, async ({ organizationId, webhookId }) => {
      const event = { id: eventId, organizationId, kind: 'smoke.test', data: '{"smoke":true}' };
      await putEvent(target, organizationId, checkEvent(event));
      return [eventId, { eventId, webhookId }];
    });
    const attempt = await step('find it in the delivery log', sent, async (event) => {
      const isOver = ({ outcome, status }: Attempt) =>
        isElsewhere || outcome !== 'failed' || verdicts.has(status);
      const found = await waitForAttempt(target, event, { seconds: deliveryTimeout, signal, isOver });
      return [`${found.outcome}, ${found.reason}, after ${found.durationMs} ms`, found];
    });
    if (isElsewhere)
      for (const name of verdictSteps)
        await step(name, attempt, async () => ['not before DNS leads to this stack', undefined, 'pending']);
    else await checkVerdict(target, attempt, step);
  } finally {
    await step(lastStep, organization, async ({ organizationId }) => {
      const { removed } = await runOperation(target, 'remove-ephemeral-organizations', { organizationId });
      return [`removed ${removed.join(', ')}`];
    });
    forget();
  }

  const ms = Math.round(performance.now() - begun);
  const passed = steps.every(({ outcome }) => outcome === 'passed' || outcome === 'pending');
  const { organizationId = null } = organization ?? {};
  if (json) terminal.result(JSON.stringify({ environment, passed, ms, organizationId, eventId, steps }));
  const counts = ['passed', 'pending', 'failed', 'skipped'].flatMap((outcome) => {
    const count = steps.filter((each) => each.outcome === outcome).length;
    return count > 0 ? `${count} ${outcome}` : [];
  });
  const summary = `${environment}: ${counts.join(', ')}, in ${formatSeconds(ms)}.`;
  if (passed) return terminal.note(summary);
  for (const { name, remedy } of steps) if (remedy) terminal.note(`To "${name}": ${remedy}`);
  throw new CommandFailed(`${signal.aborted ? 'Interrupted. ' : ''}${summary}`);
}

interface StepResult {
  readonly name: string;
  /** `pending`: cannot be proven before DNS leads to the stack. `skipped`: a prerequisite failed, or Ctrl-C. */
  readonly outcome: 'passed' | 'pending' | 'failed' | 'skipped';
  readonly ms: number | null;
  readonly detail: string;
  readonly remedy: string | null;
}

/** Runs steps, and continues after a failure. @param terminal prints each result. @default - not printed */
function createSteps(signal: AbortSignal, terminal: Terminal | undefined) {
  const steps: StepResult[] = [];
  const formatRow = (outcome: string, time: string, name: string, found: string) =>
    `${outcome.padEnd(9)}  ${time.padStart(8)}  ${name.padEnd(32)}  ${found}`.trimEnd();
  terminal?.result(terminal.bold(formatRow('RESULT', 'TIME', 'STEP', 'FOUND')));
  const add = (
    name: string,
    outcome: StepResult['outcome'],
    detail: string,
    ms: number | null = null,
    remedy: string | null = null,
  ): undefined => {
    steps.push({ name, outcome, ms, detail, remedy });
    const row = formatRow(outcome, ms === null ? '' : formatSeconds(ms), name, detail);
    terminal?.result(outcome === 'failed' ? terminal.bad(row) : row);
  };
  /** @returns the value of `work`; undefined if the step failed, or was skipped because `need` is undefined */
  async function step<Need, T>(
    name: string,
    need: Need | undefined,
    work: (need: Need) => Promise<readonly [detail: string, value?: T, outcome?: 'pending']>,
  ): Promise<T | undefined> {
    const interrupted = signal.aborted && name !== lastStep;
    if (interrupted || need === undefined)
      return add(name, 'skipped', signal.aborted ? 'interrupted' : 'a prerequisite failed');
    const begun = performance.now();
    const elapsed = () => Math.round(performance.now() - begun);
    try {
      const [detail, value, outcome = 'passed'] = await work(need);
      add(name, outcome, detail, elapsed());
      return value;
    } catch (error) {
      const { name: kind, message, stack } = error as Error;
      if (signal.aborted && kind === 'AbortError') return add(name, 'skipped', 'interrupted', elapsed());
      const remedy =
        error instanceof CommandFailed ? error.remedy : `This is a bug of the command line: ${stack}`;
      return add(name, 'failed', message, elapsed(), remedy);
    }
  }
  return { steps: steps as readonly StepResult[], step };
}

const formatSeconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;

/** What the environment's own receiver returns: `POST /webhook-origins/check/{webhookId}` in `lib/openapi.yaml`. */
const verdicts = new Set<number | null>([204, 401, 403, 422]);

const verdictSteps = ['receive the delivery', 'check its source address', 'verify its signature'] as const;

/** The steps that the environment's own receiver carried out. It looks at the source address first. */
async function checkVerdict(
  target: DeployedEnvironment,
  attempt: Attempt | undefined,
  step: ReturnType<typeof createSteps>['step'],
): Promise<void> {
  const addresses = (['WebhookOriginAddress', 'WebhookOriginReserveAddress'] as const)
    .map(target.optionalOutput)
    .filter((address) => address !== undefined);
  const [arrival, source, signature] = verdictSteps;
  const arrived = await step(arrival, attempt, async (found) => {
    if (!verdicts.has(found.status)) requireDelivered(found);
    return [`status ${found.status}`, found.status];
  });
  const fromOrigin = await step(source, arrived, async (status) => {
    if (status !== 403) return [addresses.join(' or '), status];
    throw new CommandFailed(
      `The delivery did not come from ${addresses.join(' or ')}, or the firewall blocked it.`,
      `See the log of the function that checks deliveries, in ${target.logs}, and ${target.walletCommand('origin-status')}`,
    );
  });
  await step(signature, fromOrigin, async (status) => {
    if (status === 204) return ['Standard Webhooks'];
    throw new CommandFailed(
      status === 401
        ? "The signature is not that of the webhook's secret."
        : 'The signed time is more than five minutes off.',
      `See the logs of the functions that deliver webhooks and check deliveries, in ${target.logs}.`,
    );
  });
}

const originsRequest = { method: 'GET', path: '/webhook-origins' } as const;

/**
 * Whether a request to the API's name reaches this stack: no other one has its webhook origin. Unlike a comparison of DNS records,
 * this also holds for alias records, and behind a proxy that resolves names.
 */
async function followDns(target: DeployedEnvironment, signal: AbortSignal) {
  const { host } = new URL(target.output('ApiBaseUrl'));
  let missed = '';
  const look = async () => {
    try {
      const answer = await callApi(target, originsRequest, signal, { byDns: true, deadline: 10_000 });
      return compareOrigins(target, answer);
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error;
      missed = error.message;
      return undefined;
    }
  };
  // Repeated: one network error must not excuse the delivery.
  if (await poll(look, { seconds: 5, every: 1_000, signal })) return [`${host} leads to it`, false] as const;
  const remedy = `point its CNAME record to ${apiDomainTarget(target)}`;
  return [`${host} does not lead to it yet: ${remedy}. ${missed}`, true, 'pending'] as const;
}

function compareOrigins(target: DeployedEnvironment, answer: ApiResponse): string {
  const reserves = reserveOutputs.map(target.optionalOutput).flatMap((each) => (each ? [`${each}/32`] : []));
  const expected = {
    environment: target.environment.name,
    addresses: [`${target.output('WebhookOriginAddress')}/32`],
    ...(reserves.length > 0 && { reserve: reserves }),
  };
  const { environment, addresses, reserve } = Object(answer.body);
  const found = { environment, addresses, ...(reserve !== undefined && { reserve }) };
  if (answer.status !== 200 || !isDeepStrictEqual(found, expected))
    unexpectedResponse(target, originsRequest, answer, `200 with ${JSON.stringify(expected)}`);
  return [`${expected.addresses}`, ...reserves.map((each) => `reserve ${each}`)].join(', ');
}
