import { putEvent } from '../send-event';
import type { Target } from '../target';
import {
  deleteGroup,
  type EphemeralOrganization,
  ephemeral,
  expectAudited,
  expectNotFound,
  makeEphemeralOrganization,
} from './deletion';
import {
  addWebhook,
  type DeliveryWait,
  expectDelivered,
  expectDelivery,
  expectFromOrigin,
  expectSigned,
} from './delivery';
import { expectOrigins } from './origins';
import type { SmokeReceiver } from './receiver';
import type { Run } from './run';

export interface Check {
  readonly target: Target;
  readonly run: Run;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Seconds that a delivery is waited for. */
  readonly seconds: number;
  /** Undefined leaves webhooks out. */
  readonly receiver: SmokeReceiver | undefined;
  readonly eventId: string;
}

const webhookSteps = {
  add: 'add a webhook',
  send: 'send an event',
  receive: 'receive the delivery',
  verify: 'verify its signature',
  source: 'compare its source address',
  attempt: 'find the attempt recorded',
} as const;

/** What a check does, in its order. */
export const stepNames = {
  make: 'make an ephemeral organization',
  delete: 'delete its user group by the API',
  gone: 'delete it again: it is gone',
  audit: 'find the deletion in the audit',
  origins: 'compare GET /webhook-origins',
  ...webhookSteps,
  cleanUp: 'clean up',
} as const;

/** Goes through an environment as its users do, from a deletion to a verified delivery, and cleans up in any case. */
export async function check({ receiver, ...parts }: Check): Promise<EphemeralOrganization | undefined> {
  const { target, run, signal } = parts;
  const made = await run.step(stepNames.make, true, () => makeEphemeralOrganization(target));
  try {
    const deleted = await run.step(stepNames.delete, made, (group) => deleteGroup(target, group, signal));
    await run.step(stepNames.gone, deleted, (group) => expectNotFound(target, group, signal));
    await run.step(stepNames.audit, deleted, (group) => expectAudited(target, group));
    await run.step(stepNames.origins, true, () => expectOrigins(target, signal));
    if (receiver) await checkWebhooks({ ...parts, receiver }, made);
    else
      for (const name of Object.values(webhookSteps)) run.leaveOut(name, true, 'left out: --without-webhook');
  } finally {
    await run.lastStep(stepNames.cleanUp, made, (group) => ephemeral(target, group));
  }
  return made;
}

async function checkWebhooks(
  { target, run, signal, seconds, receiver, eventId }: Check & { readonly receiver: SmokeReceiver },
  made: EphemeralOrganization | undefined,
): Promise<void> {
  const { delivery } = receiver;
  let timeout: DeliveryWait = { seconds, signal };
  const webhook = await run.step(stepNames.add, made, ({ organizationId }) =>
    addWebhook(target, organizationId, receiver.url),
  );
  const ready = made && webhook && { ...made, ...webhook };
  const sent = await run.step(stepNames.send, ready, async ({ organizationId, ...to }) => {
    const event = { id: eventId, organizationId, kind: 'smoke.test', data: '{"smoke":true}' };
    await putEvent(target, event);
    return { value: { ...to, event, eventId }, detail: eventId };
  });

  if (delivery) {
    const arrival = await run.step(stepNames.receive, sent, (to) =>
      expectDelivery(target, to, delivery, timeout),
    );
    timeout = { ...timeout, over: arrival === undefined };
    const received = sent && arrival && { ...sent, arrival };
    await run.step(stepNames.verify, received, (to) => expectSigned(to.arrival, to, to.event));
    await run.step(stepNames.source, received, (to) => expectFromOrigin(target, to.arrival));
  } else {
    for (const name of [stepNames.receive, stepNames.verify, stepNames.source])
      run.leaveOut(name, sent, 'only the receiver sees it: --receiver-listen would tell');
  }
  await run.step(stepNames.attempt, sent, (to) => expectDelivered(target, to, timeout));
}
