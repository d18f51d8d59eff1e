import type { DeliveryState } from '../../../lambda/deliver-webhook/ports';
import { handOut, standingOf } from '../../../lambda/deliver-webhook/series';

const own = { number: 2, copy: 'own' };
const successor = { attempt: 3, notBefore: 1 };
const other = { series: 'again', begunAt: 5 };

it.each<[string, object, DeliveryState, 'due' | 'done' | 'made']>([
  ['before any attempt', own, {}, 'due'],
  ['of the number after the last one', own, { last: { number: 1, copy: 'before', successor } }, 'due'],
  ['after a final attempt', own, { last: { number: 1, copy: 'before' } }, 'done'],
  ['of a number that was passed', own, { last: { number: 3, copy: 'own', successor } }, 'done'],
  ['of the last number, by another copy', own, { last: { number: 2, copy: 'other', successor } }, 'done'],
  ['of the last number', own, { last: { ...own, successor } }, 'made'],
  ['of the release before, without a copy', { attempt: 2 }, { last: { ...own, successor } }, 'made'],
  ['of the first series, which another one forestalled', own, { other }, 'done'],
  ['of a redelivery beside another', { ...own, series: 'more' }, { other }, 'due'],
  ['of a series that began after the other', own, { other, begunAt: 6 }, 'due'],
  ['of a series before another one began', own, { other, begunAt: 4 }, 'done'],
  ['of the later name of two at one time', { ...own, series: 'more' }, { other, begunAt: 5 }, 'due'],
  ['of the earlier name of two at one time', own, { other, begunAt: 5 }, 'done'],
  ['after another one was delivered', own, { other: { ...other, deliveredAt: 6 }, begunAt: 6 }, 'done'],
  ['of a series after a delivery', own, { other: { ...other, deliveredAt: 6 }, begunAt: 7 }, 'due'],
])('a message %s', (_, delivery, state, kind) => {
  expect(standingOf(delivery, state).kind).toBe(kind);
});

it.each([
  ['the first that is due', ['done', 'due', 'due'], 1],
  ['the first if none is', ['done', 'done'], 0],
])('the trial of a webhook is %s, whatever those of others are', (_, kinds, expected) => {
  const [trial, deliveryId] = [{ until: 1, probeAnswers: true }, 'msg_1'];
  const looks = ['wh-2', ...kinds].map((kind) => ({
    delivery: { webhookId: kind === 'wh-2' ? kind : 'wh-1', deliveryId, ...own },
    state: { trial, ...(kind === 'done' && { last: { number: 2 } }) },
  }));
  const tried = handOut(looks).map((state) => 'trial' in state);
  expect(tried).toEqual([true, ...kinds.map((_, index) => index === expected)]);
});
