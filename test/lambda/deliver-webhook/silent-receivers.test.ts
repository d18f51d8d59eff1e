import { rememberSilentReceivers } from '../../../lambda/deliver-webhook/silent-receivers';

const timeout = { answered: false, reason: 'timeout' } as const;
const second = 1_000;
const webhook = 'wh-1';

it('lets a receiver rest after two time-outs in a row, longer with each, five minutes at most', () => {
  const silent = rememberSilentReceivers();
  let now = 0;
  silent.note(webhook, timeout, now);
  expect(silent.isResting(webhook, now)).toBe(false);
  for (const length of [60, 120, 240, 300, 300]) {
    silent.note(webhook, timeout, now);
    expect(silent.isResting(webhook, now + length * second - 1)).toBe(true);
    now += length * second;
    expect(silent.isResting(webhook, now)).toBe(false);
  }
});

it('takes a batch of time-outs at once for the beginning of one rest', () => {
  const silent = rememberSilentReceivers();
  for (let attempt = 0; attempt < 10; attempt += 1) silent.note(webhook, timeout, attempt);
  expect(silent.isResting(webhook, 60 * second)).toBe(true);
  expect(silent.isResting(webhook, 61 * second)).toBe(false);
});

it.each([
  { answered: true, status: 500 },
  { answered: false, reason: 'connection_reset' },
] as const)('takes a receiver for awake that fails in time: %j', (result) => {
  const silent = rememberSilentReceivers();
  silent.note(webhook, timeout, 0);
  silent.note(webhook, timeout, 0);
  silent.note(webhook, result, 1);
  expect(silent.isResting(webhook, 2)).toBe(false);
  silent.note(webhook, timeout, 3);
  expect(silent.isResting(webhook, 3)).toBe(false);
});

it('counts a connection that does not come about as silence, and each webhook for itself', () => {
  const silent = rememberSilentReceivers();
  for (const _ of [1, 2]) silent.note(webhook, { answered: false, reason: 'connect_timeout' }, 0);
  expect(silent.isResting(webhook, 1)).toBe(true);
  expect(silent.isResting('wh-2', 1)).toBe(false);
});

it('remembers a thousand', () => {
  const silent = rememberSilentReceivers();
  for (let index = 0; index <= 1_000; index += 1) {
    for (const _ of [1, 2]) silent.note(`wh-${index}`, timeout, 0);
  }
  expect(['wh-0', 'wh-1', 'wh-1000'].map((id) => silent.isResting(id, 1))).toEqual([false, true, true]);
});
