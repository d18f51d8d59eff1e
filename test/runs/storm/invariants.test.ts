import { isBroken } from '../harness/checks';
import { checkInvariants } from './invariants';
import type { Observations } from './observations';
import { fullStorm } from './settings';

/** The shortest time of all attempts, with jitter. */
const shortest = 0.8 * (fullStorm.clock.schedule.at(-1) ?? 0);

/** What is broken by one delivery that was given up so long after its first attempt. */
function brokenBy(kind: 'healthy' | 'down', age: number, reason: string): string[] {
  const webhookId = 'wh-1';
  const ledger = {
    arrivals: [],
    requests: 3,
    answered: 0,
    complaints: [],
    cut: 0,
    times: [],
  };
  const phase = {
    name: 'storm' as const,
    subscriptions: [{ webhookId, organizationId: 'or-1', kind, eventKind: 'storm.0', secret: '' }],
    events: [{ id: 'event-1', kind: 'storm.0' }],
    ...{ rate: 1, left: 0, lost: 0, duration: 1 },
  };
  const none = { invocations: 0, messages: 0 };
  const seen: Observations = {
    phases: [phase],
    kills: { deliverWebhook: 1, fanOutEvent: 1 },
    duration: 1,
    ledgers: [{ ...ledger, webhookId, kind }],
    rows: new Map([[webhookId, { attempts: 3, answered: 0, failed: 3 }]]),
    disabled: new Map(),
    givenUp: [{ webhookId, eventId: 'event-1', reason, age }],
    deadLetters: [],
    refusedEvents: [],
    stopped: new Set(),
    ...{ fanOuts: new Map(), lines: new Map(), failures: new Map() },
    lost: { fanOut: none, deliver: none },
  };
  return checkInvariants(seen, fullStorm)
    .filter(isBroken)
    .map(({ name }) => name);
}

const early = 'no delivery is given up before its retries have ended';
const healthy = 'no delivery to a healthy receiver is given up';

it.each([
  ['of a receiver that is down, in the end', 'down', shortest, 'server_error', []],
  ['of a receiver that is down, too early', 'down', shortest - 1, 'server_error', [early]],
  ['of a healthy receiver', 'healthy', shortest, 'server_error', [healthy]],
  ['of a healthy receiver on a busy machine', 'healthy', shortest, 'timeout', []],
] as const)('one that was given up %s', (_, kind, age, reason, broken) => {
  expect(brokenBy(kind, age, reason)).toEqual(broken);
});
