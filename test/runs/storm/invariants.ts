import { webhookLogCodes } from '../../../lambda/webhooks/log-codes';
import type { Check } from '../harness/checks';
import { everAccepts } from './behaviour';
import { healthyDelays, maxRatio } from './delays';
import { type Fate, followDeliveries } from './deliveries';
import { checkPace } from './draining';
import type { Observations } from './observations';
import type { StormSettings } from './settings';

/** Holds what was seen against what is promised. Each is exact: there is no share that may be missing. */
export function checkInvariants(seen: Observations, settings: StormSettings): readonly Check[] {
  const { fates, unexpected } = followDeliveries(seen);
  const where = (condition: (fate: Fate) => boolean) =>
    fates.filter(condition).map(({ kind, webhookId, eventId }) => `${kind} ${webhookId} ${eventId}`);
  return [
    { name: 'the queues are empty at the end of each phase', violations: leftBehind(seen) },
    {
      name: 'each request is signed and carries the event unchanged, under one webhook-id for all attempts',
      violations: seen.ledgers.flatMap(({ complaints }) => complaints),
    },
    { name: 'no two deliveries share a webhook-id', violations: sharedIds(fates) },
    {
      name: 'a receiver that ever accepts got every event, or it lies in the dead-letter queue',
      violations: where(
        ({ kind, delivered, deadLettered }) => everAccepts(kind) && !delivered && deadLettered === 0,
      ),
    },
    {
      name: 'what a receiver never accepts lies in the dead-letter queue',
      violations: where(
        ({ kind, deadLettered }) => (kind === 'down' || kind === 'black-hole') && deadLettered === 0,
      ),
    },
    {
      name: 'the sum is exact: delivered, dead-lettered, stopped or never made for a disabled webhook',
      violations: where(
        ({ delivered, deadLettered, stopped, gone, notMade }) =>
          !(delivered || deadLettered > 0 || stopped || gone || notMade),
      ),
    },
    { name: 'there is nothing beside what was sent', violations: unexpected },
    {
      name: 'only the receiver that answers 410 is disabled, and it stops',
      violations: disabling(seen, settings),
    },
    { name: 'each dead letter has its reason, and no event was refused', violations: unexplained(seen) },
    {
      name: 'no delivery is given up before its retries have ended',
      violations: givenUpEarly(seen, settings),
    },
    { name: 'a healthy receiver has no dead letters', violations: healthyDead(seen) },
    { name: 'each attempt has a row, but for what was killed before it could write', violations: rows(seen) },
    { name: 'functions were killed', violations: kills(seen) },
    ...checkPace(seen, settings),
  ];
}

const leftBehind = ({ phases }: Observations) =>
  phases.filter(({ left }) => left > 0).map(({ name, left }) => `${name}: ${left} messages`);

function sharedIds(fates: readonly Fate[]): string[] {
  const owners = new Map<string, string>();
  return fates.flatMap(({ webhookId, eventId, arrival }) => {
    if (!arrival) return [];
    const owner = owners.get(arrival.deliveryId);
    owners.set(arrival.deliveryId, `${webhookId} ${eventId}`);
    return owner === undefined ? [] : [`${arrival.deliveryId}: ${owner}, ${webhookId} ${eventId}`];
  });
}

function disabling(seen: Observations, { clock }: StormSettings): string[] {
  const gone = seen.ledgers.filter(({ kind }) => kind === 'gone');
  const wrongly = [...seen.disabled].filter(([webhookId]) =>
    gone.every((each) => each.webhookId !== webhookId),
  );
  return [
    ...wrongly.map(([webhookId, reason]) => `${webhookId} is disabled: ${reason}`),
    ...gone
      .filter(({ webhookId }) => seen.disabled.get(webhookId) !== 'gone')
      .map(({ webhookId }) => `${webhookId} is not disabled`),
    // Attempts that had begun, and one that was killed between the answer and the disabling.
    ...gone
      .filter(({ times: [first = 0, ...later] }) => (later.at(-1) ?? first) - first > clock.functionTimeout)
      .map(({ webhookId, requests }) => `${webhookId} still got requests, ${requests} in all`),
  ];
}

function unexplained({ deadLetters, refusedEvents }: Observations): string[] {
  const silent = deadLetters.filter(({ reason, delivery }) => !reason || !delivery);
  return [
    ...silent.map(({ delivery }) => `${delivery?.deliveryId ?? 'unreadable'} has no reason`),
    ...refusedEvents.map(({ reason }) => `an event was refused: ${reason}`),
  ];
}

/** The last attempt is at the end of the schedule, which begins after the event was accepted. */
const givenUpEarly = ({ deadLetters }: Observations, { clock }: StormSettings): string[] =>
  deadLetters.flatMap(({ delivery, sentAt }) => {
    if (!delivery) return [];
    const age = sentAt - delivery.acceptedAt;
    return age >= clock.schedule.giveUpAfter
      ? []
      : [`${delivery.webhookId} ${delivery.eventId} after ${age} ms`];
  });

/** But for those that a busy machine did not let answer in time, by a clock that is so much faster than the product's. */
function healthyDead({ deadLetters, ledgers }: Observations): string[] {
  const healthy = new Set(ledgers.filter(({ kind }) => kind === 'healthy').map(({ webhookId }) => webhookId));
  return deadLetters.flatMap(({ delivery, reason = 'no reason' }) =>
    delivery && healthy.has(delivery.webhookId) && !timeouts.includes(reason)
      ? [`${delivery.webhookId} ${delivery.eventId}: ${reason}`]
      : [],
  );
}

const timeouts = ['connect_timeout', 'timeout'];

/**
 * A row is written after its attempt: an invocation that is killed may have asked receivers, and had their answers,
 * without a row, at most once for each of its messages.
 */
function rows(seen: Observations): string[] {
  const notRecorded = seen.lines.get(webhookLogCodes.attemptNotRecorded) ?? 0;
  const mayMiss = seen.lost.deliver.messages + notRecorded;
  const missing = { requests: 0, answers: 0 };
  const invented: string[] = [];
  for (const { webhookId, requests, answered, cut } of seen.ledgers) {
    const row = seen.rows.get(webhookId) ?? { attempts: 0, answered: 0 };
    missing.requests += Math.max(0, requests - cut - row.attempts);
    missing.answers += Math.max(0, answered - row.answered);
    if (row.answered > answered) invented.push(`${webhookId}: ${row.answered} rows for ${answered} answers`);
  }
  const most = Math.max(missing.requests, missing.answers);
  return most > mayMiss
    ? [...invented, `${most} rows are missing, of which kills explain ${mayMiss}`]
    : invented;
}

/** Of the medians of the healthy receivers' delays with the sick ones present and without them. */
export function checkDelays(seen: Observations): Check {
  const calm = healthyDelays(seen, 'calm').median;
  const storm = healthyDelays(seen, 'storm').median;
  const holds = storm <= calm * maxRatio;
  return {
    name: `sick receivers delay the healthy ones' median to at most ${maxRatio} times`,
    violations: holds ? [] : [`${storm} ms with them, ${calm} ms without`],
  };
}

const kills = ({ kills }: Observations) =>
  Object.entries(kills).flatMap(([name, count]) => (count === 0 ? [`${name} was never killed`] : []));
