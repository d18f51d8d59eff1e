import { isBroken } from '../harness/checks';
import { checkInvariants } from './invariants';
import type { Observations } from './observations';
import { smallStorm } from './settings';

const { giveUpAfter } = smallStorm.clock.schedule;

/** What is broken by one dead letter of a receiver's webhook, put there so long after its event was accepted. */
function brokenBy(kind: 'healthy' | 'down', age: number, reason: string): string[] {
  const webhookId = 'wh-1';
  const delivery = { deliveryId: 'msg_1', webhookId, eventId: 'event-1', acceptedAt: 1_000, body: '{}' };
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
    deadLetters: [{ delivery, eventId: 'event-1', reason, sentAt: delivery.acceptedAt + age }],
    refusedEvents: [],
    stopped: new Set(),
    ...{ fanOuts: new Map(), lines: new Map(), failures: new Map() },
    lost: { fanOut: none, deliver: none },
  };
  return checkInvariants(seen, smallStorm)
    .filter(isBroken)
    .map(({ name }) => name);
}

const early = 'no delivery is given up before its retries have ended';
const healthy = 'a healthy receiver has no dead letters';

it.each([
  ['of a receiver that is down, in the end', 'down', giveUpAfter, 'server_error', []],
  ['of a receiver that is down, too early', 'down', giveUpAfter - 1, 'server_error', [early]],
  ['of a healthy receiver', 'healthy', giveUpAfter, 'server_error', [healthy]],
  ['of a healthy receiver on a busy machine', 'healthy', giveUpAfter, 'timeout', []],
] as const)('a dead letter %s', (_, kind, age, reason, broken) => {
  expect(brokenBy(kind, age, reason)).toEqual(broken);
});
