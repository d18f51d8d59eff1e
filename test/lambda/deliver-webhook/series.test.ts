import { standingOf } from '../../../lambda/deliver-webhook/series';

const own = { number: 2, copy: 'own' };
const successor = { attempt: 3, notBefore: 1 };

it.each([
  ['before any attempt', own, undefined, 'due'],
  ['of the number after the last one', own, { number: 1, copy: 'before', successor }, 'due'],
  ['after a final attempt', own, { number: 1, copy: 'before' }, 'done'],
  ['of a number that was passed', own, { number: 3, copy: 'own', successor }, 'done'],
  ['of the last number, by another copy', own, { number: 2, copy: 'other', successor }, 'done'],
  ['of the last number', own, { number: 2, copy: 'own', successor }, 'made'],
  ['of the release before, without a copy', { attempt: 2 }, { number: 2, copy: 'own', successor }, 'made'],
])('a message %s', (_, delivery, last, kind) => {
  expect(standingOf(delivery, { ...(last && { last }) }).kind).toBe(kind);
});
