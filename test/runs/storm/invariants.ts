import { webhookLogCodes } from '../../../lambda/webhooks/log-codes';
import type { Check } from '../harness/checks';
import { everAccepts } from './behaviour';
import { healthyDelays, maxRatio } from './delays';
import { type Fate, followDeliveries } from './deliveries';
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
      name: 'a receiver that ever accepts got every event, or it was given up',
      violations: where(({ kind, delivered, givenUp }) => everAccepts(kind) && !delivered && !givenUp),
    },
    {
      name: 'what a receiver never accepts is given up',
      violations: where(({ kind, givenUp }) => (kind === 'down' || kind === 'black-hole') && !givenUp),
    },
    {
      name: 'the sum is exact: delivered, given up, stopped or never made for a disabled webhook',
      violations: where(
        ({ delivered, givenUp, stopped, gone, notMade }) =>
          !(delivered || givenUp || stopped || gone || notMade),
      ),
    },
    { name: 'there is nothing beside what was sent', violations: unexpected },
    {
      name: 'only the receiver that answers 410 is disabled, and it stops',
      violations: disabling(seen, settings),
    },
    { name: 'no message was refused', violations: refused(seen) },
    {
      name: 'no delivery is given up before its retries have ended',
      violations: givenUpEarly(seen, settings),
    },
    { name: 'no delivery to a healthy receiver is given up', violations: healthyGivenUp(seen) },
    { name: 'each attempt has a row, but for what was killed before it could write', violations: rows(seen) },
    { name: 'functions were killed', violations: kills(seen) },
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

const refused = ({ deadLetters, refusedEvents }: Observations): string[] =>
  [...deadLetters, ...refusedEvents].map(({ reason }) => `a message was refused: ${reason}`);

/** The last attempt is at the end of the schedule, of which each delay may be a fifth shorter. */
const givenUpEarly = ({ givenUp }: Observations, { clock }: StormSettings): string[] =>
  givenUp
    .filter(({ age }) => age < 0.8 * (clock.schedule.at(-1) ?? 0))
    .map(({ webhookId, eventId, age }) => `${webhookId} ${eventId} after ${age} ms`);

/** But for those that a busy machine did not let answer in time, by a clock that is so much faster than the product's. */
function healthyGivenUp({ givenUp, ledgers }: Observations): string[] {
  const healthy = new Set(ledgers.filter(({ kind }) => kind === 'healthy').map(({ webhookId }) => webhookId));
  return givenUp
    .filter(({ webhookId, reason }) => healthy.has(webhookId) && !timeouts.includes(reason))
    .map(({ webhookId, eventId, reason }) => `${webhookId} ${eventId}: ${reason}`);
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
