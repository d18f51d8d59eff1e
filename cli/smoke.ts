import { performance } from 'node:perf_hooks';
import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import type { Attempt } from '../domain/delivery';
import { newEventId } from '../domain/event';
import { type ApiResponse, callApi, sendDeletion, unexpectedResponse } from './callers/api';
import { isOriginAddress } from './origin/read-origin';
import { CommandFailed, UsageError } from './shell/failure';
import { awaitInterruption } from './shell/interruption';
import { readFields } from './shell/json';
import { runOperation } from './shell/operations';
import { type CommonOptions, duration, number } from './shell/options';
import { poll } from './shell/poll';
import type { Target } from './shell/target';
import { environmentCommand } from './shell/target';
import type { Terminal } from './shell/terminal';
import { requireDelivered, waitForAttempt } from './webhooks/attempts';
import { receiverUrl } from './webhooks/options';
import { putEvent } from './webhooks/queue';
import { type ReceivedRequest, startReceiver, verify } from './webhooks/receiver';
import { deriveSecret } from './webhooks/secret';

interface SmokeOptions extends CommonOptions {
  readonly receiverUrl?: string;
  readonly receiverListen?: number;
  readonly withoutWebhook?: boolean;
  /** Seconds. */
  readonly timeout: number;
}

const help = `On this machine the command runs the receiver itself. A deployed environment reaches public https URLs only:
  --receiver-url URL                        any receiver that returns 2xx. Only that receiver can check the signature
                                            and the source address
  --receiver-listen PORT --receiver-url URL the command's own receiver; the URL leads to 127.0.0.1:PORT through a tunnel,
                                            or a TLS proxy that adds X-Forwarded-For. Checks everything
  --without-webhook                         skips the webhook steps

It also cleans up after a failure and after Ctrl-C. The audit record and the attempt remain. If a run is killed, a run on a
later day removes its organization.

Exit codes: 0 every step passed or was unchecked, 1 a step failed or was skipped, 2 usage error.`;

export function register(program: Command, terminal: Terminal): void {
  environmentCommand<SmokeOptions>(program, terminal, 'smoke', {
    summary: 'test an environment end to end: a deletion, its audit record, a signed webhook',
    help,
    production: '"smoke" creates an organization there and removes it afterwards',
    run: (target, options) => smoke(target, options, terminal),
  })
    .option('--receiver-url <url>', "the webhook's URL: https, with a public host name", receiverUrl)
    .option('--receiver-listen <port>', 'listen on 127.0.0.1; 0 chooses a free port', number(0, 65_535))
    .option('--without-webhook', 'skip the webhook steps')
    .addOption(
      duration('--timeout <duration>', 'how long to wait for the delivery', { usual: '2m', most: '15m' }),
    );
}

const received = ['receive the delivery', 'verify its signature', 'check its source address'] as const;
const recorded = 'find it in the delivery log';
const lastStep = 'clean up';

async function smoke(target: Target, options: SmokeOptions, terminal: Terminal): Promise<void> {
  const { withoutWebhook, json, environment, timeout } = options;
  if (withoutWebhook && (options.receiverUrl ?? options.receiverListen) !== undefined)
    throw new UsageError('Give a receiver or --without-webhook, not both.');
  const eventId = newEventId();
  const receiver = withoutWebhook ? undefined : await openReceiver(target, eventId, options);

  const begun = performance.now();
  const { signal, forget } = awaitInterruption();
  const { steps, step, leaveOut } = createSteps(signal, json ? undefined : terminal);

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
    await step('check GET /webhook-origins', true, async () => {
      const answer = await callApi(target, { method: 'GET', path: '/webhook-origins' }, signal);
      return [compareOrigins(target, answer)];
    });

    if (!receiver)
      leaveOut('excluded by --without-webhook', 'add a webhook', 'send an event', ...received, recorded);
    else {
      const { url, delivery } = receiver;
      const webhook = await step('add a webhook', organization, async ({ organizationId }) => {
        const input = { organizationId, url, kinds: null };
        const { webhookId, secretVersion } = await runOperation(target, 'add-webhook', input);
        const secret = await deriveSecret(target, webhookId, secretVersion);
        return [`${webhookId} to ${url}`, { organizationId, webhookId, secret }];
      });
      const sent = await step('send an event', webhook, async ({ organizationId, ...added }) => {
        await putEvent(target, { id: eventId, organizationId, kind: 'smoke.test', data: '{"smoke":true}' });
        return [eventId, { eventId, ...added }];
      });
      let left: { readonly seconds: number; readonly waited?: number } = { seconds: timeout };
      if (!delivery) leaveOut('needs --receiver-listen: only the receiver sees it', ...received);
      else {
        const [receive, verifySignature, compareAddress] = received;
        const arrived = await step(receive, sent, async ({ webhookId, secret }) => {
          const arrival = await poll(delivery, { seconds: timeout, every: 50, signal });
          if (arrival) return [String(arrival.headers['webhook-id']), { arrival, secret }];
          left = { seconds: 0, waited: timeout };
          requireDelivered(await waitForAttempt(target, { eventId, webhookId }, { ...left, signal }));
          throw new CommandFailed(`Another receiver accepted the delivery within ${timeout} s.`);
        });
        await step(verifySignature, arrived, async ({ arrival, secret }) => {
          const reason = verify(arrival, secret);
          if (!reason) return ['Standard Webhooks'];
          throw new CommandFailed(
            `The signature is invalid: ${reason}.`,
            'Check that the delivery function and WebhookSecretsKeyArn in the outputs file belong to the same stack, and that the clock of this machine is right.',
          );
        });
        await step(compareAddress, arrived, async ({ arrival }) => [compareSource(target, arrival)]);
      }
      await step(recorded, sent, async (event) => {
        const isOver = ({ outcome }: Attempt) => outcome !== 'failed';
        const attempt = await waitForAttempt(target, event, { ...left, signal, isOver });
        requireDelivered(attempt);
        return [`status ${attempt.status} after ${attempt.durationMs} ms`];
      });
    }
  } finally {
    await step(lastStep, organization, async ({ organizationId }) => {
      const { removed } = await runOperation(target, 'remove-ephemeral-organizations', { organizationId });
      return [`removed ${removed.join(', ')}`];
    });
    forget();
    await receiver?.close?.();
  }

  const ms = Math.round(performance.now() - begun);
  const passed = steps.every(({ outcome }) => outcome === 'passed' || outcome === 'unchecked');
  const { organizationId = null } = organization ?? {};
  if (json) terminal.result(JSON.stringify({ environment, passed, ms, organizationId, eventId, steps }));
  const counts = ['passed', 'failed', 'skipped', 'unchecked'].flatMap((outcome) => {
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
  /** `skipped`: a prerequisite failed, or Ctrl-C. `unchecked`: excluded, or only an external receiver can check it. */
  readonly outcome: 'passed' | 'failed' | 'skipped' | 'unchecked';
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
    work: (need: Need) => Promise<readonly [detail: string, value?: T]>,
  ): Promise<T | undefined> {
    const interrupted = signal.aborted && name !== lastStep;
    if (interrupted || need === undefined)
      return add(name, 'skipped', signal.aborted ? 'interrupted' : 'a prerequisite failed');
    const begun = performance.now();
    const elapsed = () => Math.round(performance.now() - begun);
    try {
      const [detail, value] = await work(need);
      add(name, 'passed', detail, elapsed());
      return value;
    } catch (error) {
      const { name: kind, message, stack } = error as Error;
      if (signal.aborted && kind === 'AbortError') return add(name, 'skipped', 'interrupted', elapsed());
      const remedy =
        error instanceof CommandFailed ? error.remedy : `This is a bug of the command line: ${stack}`;
      return add(name, 'failed', message, elapsed(), remedy);
    }
  }
  const leaveOut = (detail: string, ...names: readonly string[]) => {
    for (const name of names) add(name, 'unchecked', detail);
  };
  return { steps: steps as readonly StepResult[], step, leaveOut };
}

const formatSeconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;

/** `delivery` is absent for an external receiver: only that receiver sees it. */
async function openReceiver(target: Target, eventId: string, options: SmokeOptions) {
  const { receiverUrl: url, receiverListen } = options;
  if (!target.local && url === undefined)
    throw new UsageError(
      `Environment ${target.environment.name} is deployed: it cannot reach a receiver on this machine.`,
      'Give --receiver-url (optionally with --receiver-listen) or --without-webhook: see --help.',
    );
  if (url !== undefined && receiverListen === undefined) return { url };
  let arrival: ReceivedRequest | undefined;
  const receiver = await startReceiver(receiverListen ?? 0, (request) => {
    if (request.method !== 'POST' || readFields(request.body).id !== eventId) return 404;
    arrival ??= request;
    return 204;
  });
  return { url: url ?? receiver.url, delivery: () => arrival, close: receiver.close };
}

/** Expects exactly the addresses in the stack's outputs. */
export function compareOrigins(target: Target, answer: ApiResponse): string {
  const output = target.optionalOutput('WebhookOriginReserveAddress');
  const expected = {
    environment: target.environment.name,
    addresses: [`${target.output('WebhookOriginAddress')}/32`],
    ...(output && { reserve: [`${output}/32`] }),
  };
  const { environment, addresses, reserve } = Object(answer.body);
  const found = { environment, addresses, ...(reserve !== undefined && { reserve }) };
  const request = { method: 'GET', path: '/webhook-origins' } as const;
  if (answer.status !== 200 || !isDeepStrictEqual(found, expected))
    unexpectedResponse(target, request, answer, `200 with ${JSON.stringify(expected)}`);
  return `${expected.addresses}${output ? `, reserve ${output}/32` : ''}`;
}

/**
 * Expects a published address. Each proxy or tunnel in front of the listener appends its peer to `X-Forwarded-For`: the last
 * public address is the sender's.
 */
export function compareSource(
  target: Target,
  { headers, from }: Pick<ReceivedRequest, 'headers' | 'from'>,
): string {
  const forwarded = headers['x-forwarded-for'];
  const hops = [...String(forwarded ?? '').split(','), from].map((hop) => hop.trim());
  const source = hops.findLast(isOriginAddress) ?? from;
  const expected = target.output('WebhookOriginAddress');
  if (source === expected) return source;
  if (source === target.optionalOutput('WebhookOriginReserveAddress'))
    return `${source}, the reserve address`;
  throw new CommandFailed(
    `The delivery came from ${source}, not from ${expected}. The peer is ${from}, X-Forwarded-For is ${forwarded ?? 'absent'}.`,
    `The proxy or tunnel in front of the listener must add X-Forwarded-For, without a CDN in front of it. Otherwise see ${target.paste('origin-status')}`,
  );
}
