import { isBroken } from '../harness/checks';
import { checkOrder, checkPace, mostInASecond } from './draining';
import type { Observations } from './observations';
import { smallStorm } from './settings';

const webhookId = 'wh-1';
const count = 600;
const events = Array.from({ length: count }, (_, index) => ({ id: `event-${index}`, kind: 'storm.0' }));
const ids = events.map(({ id }) => id);

/** What is broken when deliveries that had waited came in this order, so many milliseconds apart. */
function brokenBy({ order = ids, apart = 100, deadAfter = 0 }): string[] {
  const arrivals = order.map((eventId) => ({
    ...{ eventId, deliveryId: `msg_${eventId}`, delay: 0 },
    ...{ requests: deadAfter || 1, accepted: deadAfter ? 0 : 1 },
  }));
  const delivery = { deliveryId: 'msg_1', webhookId, eventId: ids[0] as string, acceptedAt: 0, body: '{}' };
  const seen = {
    phases: [
      {
        name: 'detached',
        subscriptions: [
          { webhookId, organizationId: 'or-1', kind: 'healthy', eventKind: 'storm.0', secret: '' },
        ],
        events,
        ...{ rate: 1, left: 0, lost: 0, duration: 1 },
      },
    ],
    ledgers: [{ webhookId, kind: 'healthy', arrivals, times: order.map((_, index) => index * apart) }],
    deadLetters: deadAfter ? [{ delivery, eventId: ids[0], reason: 'server_error', sentAt: 0 }] : [],
    stopped: new Set(),
    fanOuts: new Map(),
  } as unknown as Observations;
  return [...checkPace(seen, smallStorm), checkOrder(seen)].filter(isBroken).map(({ name }) => name);
}

const most = mostInASecond(smallStorm);
const burst = `of what waited for a day, no receiver gets more than ${most} in a second`;
const order = expect.stringContaining('what waited comes oldest first');
const age = 'none of it is given up at its first attempt: the wait is not its age';
const oldestLast = [...ids.slice(1), 'event-0'];

it.each([
  ['in order and as slowly as it may', { apart: Math.ceil(1_000 / most) }, []],
  ['a little faster', { apart: Math.floor(1_000 / most) }, [burst]],
  ['with the oldest last', { order: oldestLast }, [order]],
  ['one given up at its first attempt', { deadAfter: 1 }, [age]],
  ['one given up at its second', { deadAfter: 2 }, []],
])('what waited comes %s', (_, course, broken) => {
  expect(brokenBy(course)).toEqual(broken);
});
