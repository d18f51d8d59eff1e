import { createCircuitBreaker } from '../../../lambda/deliver-webhook/circuit-breaker';

const timeout = { answered: false, reason: 'timeout' } as const;
const second = 1_000;
const webhook = 'wh-1';

it('opens after two time-outs in a row, for longer with each, five minutes at most', () => {
  const breaker = createCircuitBreaker();
  let now = 0;
  breaker.record(webhook, timeout, now);
  expect(breaker.isOpen(webhook, now)).toBe(false);
  for (const length of [60, 120, 240, 300, 300]) {
    breaker.record(webhook, timeout, now);
    expect(breaker.isOpen(webhook, now + length * second - 1)).toBe(true);
    now += length * second;
    expect(breaker.isOpen(webhook, now)).toBe(false);
  }
});

it('opens once for a batch of time-outs', () => {
  const breaker = createCircuitBreaker();
  for (let attempt = 0; attempt < 10; attempt += 1) breaker.record(webhook, timeout, attempt);
  expect(breaker.isOpen(webhook, 60 * second)).toBe(true);
  expect(breaker.isOpen(webhook, 61 * second)).toBe(false);
});

it.each([
  { answered: true, status: 500 },
  { answered: false, reason: 'connection_reset' },
] as const)('closes when a receiver fails in time: %j', (result) => {
  const breaker = createCircuitBreaker();
  breaker.record(webhook, timeout, 0);
  breaker.record(webhook, timeout, 0);
  breaker.record(webhook, result, 1);
  expect(breaker.isOpen(webhook, 2)).toBe(false);
  breaker.record(webhook, timeout, 3);
  expect(breaker.isOpen(webhook, 3)).toBe(false);
});

it('counts a connection time-out, and each webhook alone', () => {
  const breaker = createCircuitBreaker();
  for (const _ of [1, 2]) breaker.record(webhook, { answered: false, reason: 'connect_timeout' }, 0);
  expect(breaker.isOpen(webhook, 1)).toBe(true);
  expect(breaker.isOpen('wh-2', 1)).toBe(false);
});

it('remembers a thousand webhooks', () => {
  const breaker = createCircuitBreaker();
  for (let index = 0; index <= 1_000; index += 1) {
    for (const _ of [1, 2]) breaker.record(`wh-${index}`, timeout, 0);
  }
  expect(['wh-0', 'wh-1', 'wh-1000'].map((id) => breaker.isOpen(id, 1))).toEqual([false, true, true]);
});
