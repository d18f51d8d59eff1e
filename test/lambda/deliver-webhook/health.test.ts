import { probe } from '../../../domain/probe';
import { ok } from '../../../domain/result';
import {
  type Health,
  type HealthResult,
  nextHealth,
  type Pause,
} from '../../../lambda/deliver-webhook/health';
import type { AttemptStore } from '../../../lambda/deliver-webhook/ports';
import { createRecording } from '../../../lambda/deliver-webhook/record-attempts';
import { SimulatedDatabase } from '../../runs/simulate/database';

const now = Date.parse('2026-11-20T12:00:00Z');
const url = 'https://hooks.example.com/';
const silent: HealthResult = { url, unhealthy: true, answered: false, silent: true, askedMs: 0 };
const slow: HealthResult = { ...silent, silent: false };
const failed: HealthResult = { ...silent, answered: true, silent: false };
const good: HealthResult = { ...failed, unhealthy: false };
const asks = (seconds: number): HealthResult => ({ ...failed, askedMs: seconds * 1_000 });

/** It ends, or ended, after these seconds. */
const pauseOf = (reason: Pause['reason'], seconds: number, length = seconds): Pause => ({
  reason,
  until: now + seconds * 1_000,
  length: length * 1_000,
});
const hangs = (seconds: number, length?: number) => pauseOf('no_response', seconds, length);
const asked = (seconds: number, length?: number) => pauseOf('retry_after', seconds, length);
/** The trial that has claimed a pause. */
const trial = (result: HealthResult, { until }: Pause, probeAnswers = true): HealthResult => ({
  ...result,
  trial: { until, probeAnswers },
});

const next = (health: Partial<Health>, ...results: readonly HealthResult[]) =>
  nextHealth('wh-1', { failures: 0, ...health }, { results, now });

it.each<[string, number | undefined, HealthResult[], number | undefined]>([
  ['a slow attempt marks', undefined, [slow, good], 0],
  ['a failure marks again', 1.1, [failed], 0],
  ['a failure within a second of the mark does not', 1, [failed], 1],
  ['a success soon after the mark keeps it', 30, [good], 30],
  ['a success half a minute after the mark ends it', 30.1, [good], undefined],
  ['a success of a healthy webhook changes nothing', undefined, [good], undefined],
])('%s', (_, ago, results, then) => {
  const at = (seconds: number | undefined) =>
    seconds === undefined ? {} : { unhealthyAt: now - seconds * 1_000 };
  expect(next(at(ago), ...results)).toEqual({ failures: 0, ...at(then) });
});

const [claimed, longest, claimedAsked] = [hangs(15, 60), hangs(15, 900), asked(15, 60)];
const failures = 6;

it.each<[string, Partial<Health>, HealthResult[], Pause | undefined]>([
  ['none after four silences', { failures: 4 }, [silent], undefined],
  ['one after five', { failures: 5 }, [silent], hangs(30)],
  ['no longer one after six', { failures, pause: hangs(10, 30) }, [silent], hangs(10, 30)],
  ['twice that of a silent trial', { failures, pause: claimed }, [trial(silent, claimed)], hangs(120)],
  ['at most 15 minutes', { failures, pause: longest }, [trial(silent, longest)], hangs(900)],
  ['30 s while the probe is silent, too', { pause: longest }, [trial(silent, longest, false)], hangs(30)],
  ['none after any response, also a late one', { pause: claimed }, [failed, silent], undefined],
  ['the same after a late trial', { pause: hangs(20, 60) }, [trial(silent, claimed)], hangs(20, 60)],
  // By `enable` or a new URL.
  ['none after a trial that was overtaken', { failures: 1 }, [trial(silent, claimed)], undefined],
  ['what the receiver asks for, in whole seconds', {}, [asks(60.5)], asked(61)],
  ['the longest of those asked for', {}, [asks(5), asks(60)], asked(60)],
  ['what was asked for, whatever other responses say', { pause: asked(900) }, [good, silent], asked(900)],
  ['the longer one, with its spread', { pause: asked(900) }, [asks(5)], asked(900)],
  ['the longer one, if it is new', { pause: asked(5) }, [asks(60)], asked(60)],
  ['the new one, if the other is over', { pause: asked(-1, 900) }, [asks(5)], asked(5)],
  ['none after the trial', { pause: claimedAsked }, [trial(good, claimedAsked)], undefined],
  ['as long as the trial asks', { pause: claimedAsked }, [trial(asks(2), claimedAsked)], asked(2)],
  ['30 s after a silent trial', { pause: claimedAsked }, [trial(silent, claimedAsked)], hangs(30)],
  ['what is asked for, not that of the circuit breaker', { pause: hangs(900) }, [asks(5)], asked(5)],
])('the pause of a webhook is %s', (_, health, results, pause) => {
  expect(next(health, ...results).pause).toEqual(pause);
});

it("the environment's own probe is never paused", () => {
  for (const result of [silent, asks(60)])
    expect(nextHealth(probe.webhookId, { failures: 9 }, { results: [result], now }).pause).toBeUndefined();
});

it('a batch needs one call, and one more if it changes the health, whose pause the first attempt tells', async () => {
  const database = new SimulatedDatabase(Date.now);
  const webhook = { webhookId: 'wh-1', organizationId: '', url, secretVersion: 1 };
  database.webhooks.set('wh-1', { ...webhook, health: { failures: 0 } });
  const write: AttemptStore['write'] = async (attempts) => ok(await database.write(attempts));
  const set: AttemptStore['set'] = async (changes) => ok(await database.set(changes));
  const store = { write: jest.fn(write), set: jest.fn(set).mockResolvedValueOnce(ok([])) };
  const recordOne = createRecording(store);
  const ids = { eventId: 'ev-1', webhookId: 'wh-1', deliveryId: 'msg_1', series: '', attempt: 1 };
  const outcome = { attemptedAt: now, durationMs: 1, outcome: 'failed', reason: 'timeout' } as const;
  const record = (...results: readonly HealthResult[]) =>
    Promise.all(results.map((health, number) => recordOne({ ...ids, ...outcome, number, health })));
  expect(await record(good, good)).toHaveLength(2);
  expect(store.set).not.toHaveBeenCalled();
  // Another batch changes it meanwhile: the next result decides again.
  for (const told of [[], [ok({ pause: { reason: 'no_response' } })]]) {
    const pauses = (await record(...Array(5).fill(silent))).filter((each) => each.ok && each.value.pause);
    expect(pauses).toMatchObject(told);
  }
  expect([store.write.mock.calls.length, store.set.mock.calls.length]).toEqual([3, 2]);
});
