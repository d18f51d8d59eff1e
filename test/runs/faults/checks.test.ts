import { Checks } from '../harness/checks';
import { replayed } from '../world/deletion-request';
import type { GroupStock } from '../world/groups';
import type { Attempt } from './attempt';
import { checkNames } from './check-names';
import { checkAnswers, checkDeliveries, checkGroups } from './checks';
import type { Events } from './events';
import { faultKinds } from './kinds';
import type { MadeFault } from './made-fault';

const attempt = (answer: string, changes: Partial<Attempt> = {}): Attempt => ({
  environment: 'eu',
  kind: 'due',
  groupId: 'ug-1',
  userActionId: 'action-1',
  signature: '',
  expected: ['200'],
  sentAt: 1_000,
  answeredAt: 1_100,
  answer,
  ...changes,
});

const fault = (name: string, environments: string[], from: number): MadeFault => ({
  kind: faultKinds.find((kind) => kind.name === name) as MadeFault['kind'],
  from,
  until: from + 500,
  recoveries: new Map(environments.map((name) => [name, { deletions: from + 600, deliveries: from + 600 }])),
});

describe('answers', () => {
  const violations = (faults: readonly MadeFault[], ...attempts: readonly Attempt[]) => {
    const checks = new Checks(checkNames);
    checkAnswers(attempts, faults, checks);
    return checks.violations.length;
  };
  const killed = fault('database-killed', ['eu'], 900);

  it.each([
    ['as expected', [], attempt('200'), 0],
    ['unexpected without a fault', [], attempt('503 database_unavailable'), 1],
    ['refused during a fault', [killed], attempt('503 database_unavailable'), 0],
    ['refused after the recovery', [killed], attempt('503 database_unavailable', { sentAt: 1_501 }), 1],
    [
      'refused in another environment',
      [killed],
      attempt('503 database_unavailable', { environment: 'uae' }),
      1,
    ],
    [
      '200 that is not due, during a fault',
      [killed],
      attempt('200', { expected: ['403 user_action_replayed'] }),
      1,
    ],
    [
      'refused during a fault that deletions must not notice',
      [fault('queues-reset', ['eu'], 900)],
      attempt('500 x'),
      1,
    ],
  ])('%s', (_, faults, tried, expected) => {
    expect(violations(faults, tried)).toBe(expected);
  });
});

describe('groups', () => {
  const whole = { groups: 1, members: 3, assignments: 1, deletions: [] as string[] };
  const gone = { groups: 0, members: 0, assignments: 0, deletions: ['action-1'] };
  const raced = (answer: string) => attempt(answer, { kind: 'raced', expected: ['200', replayed] });
  const violations = async (state: typeof whole, uses: number, ...attempts: readonly Attempt[]) => {
    const checks = new Checks(checkNames);
    const groups = {
      look: async () => new Map([['ug-1', state]]),
      countUses: async () => new Map([['action-1', uses]]),
    };
    await checkGroups({ name: 'eu', groups: groups as unknown as GroupStock }, attempts, checks);
    return checks.violations.length;
  };

  it.each([
    ['gone after a 200', gone, 1, [attempt('200')], 0],
    ['whole after a refusal', whole, 0, [attempt('503 database_unavailable')], 0],
    ['gone though the answer was lost', gone, 1, [attempt('503 database_unavailable')], 0],
    ['without its members', { ...whole, members: 0 }, 0, [attempt('503 database_unavailable')], 1],
    ['gone but for an assignment', { ...gone, assignments: 1 }, 1, [attempt('200')], 1],
    ['gone without a record', { ...gone, deletions: [] }, 0, [attempt('503 database_unavailable')], 1],
    ['there with a record', { ...whole, deletions: ['action-1'] }, 1, [attempt('500 x')], 1],
    ['there after a 200', whole, 1, [attempt('200')], 1],
    ['gone by a request that is refused', gone, 1, [attempt('403 x', { kind: 'refused' })], 1],
    ['gone by another user action', { ...gone, deletions: ['other'] }, 1, [attempt('500 x')], 1],
    ['deleted by two records', { ...gone, deletions: ['action-1', 'action-1'] }, 2, [attempt('200')], 2],
    ['one action answered twice with 200', gone, 1, [attempt('200'), attempt('200')], 1],
    ['a 200 that is not in the audit', gone, 0, [attempt('200')], 1],
    ['one action used by one of two concurrent requests', gone, 1, [raced('200'), raced(replayed)], 0],
    ['one action used by both of two concurrent requests', gone, 1, [raced('200'), raced('200')], 1],
    ['refused as a replay, but not in the audit', whole, 0, [raced(replayed)], 1],
  ])('%s', async (_, state, uses, attempts, expected) => {
    expect(await violations(state, uses, ...attempts)).toBe(expected);
  });
});

describe('deliveries', () => {
  it.each([
    ['arrived', [], [], []],
    ['missing', ['eu-1 for wh-1'], [], ['eu: eu-1 for wh-1 is lost']],
    ['given up', ['eu-1 for wh-1'], ['eu-1 for wh-1'], ['eu: eu-1 for wh-1 is a dead letter']],
    ['never made', ['eu-1 for wh-1', 'eu-1 for wh-2'], ['eu-1'], ['eu: eu-1 is a dead letter']],
    [
      'given up after it had arrived, beside another that is missing',
      ['eu-10 for wh-1'],
      ['eu-1'],
      ['eu: eu-1 is a dead letter', 'eu: eu-10 for wh-1 is lost'],
    ],
  ])('%s', (_, missing, deadLetters, violations) => {
    const checks = new Checks(checkNames);
    const events = { deliveries: 20, missing: () => missing };
    checkDeliveries({ name: 'eu', events: events as Events }, deadLetters, checks);
    expect(checks.violations.map((violation) => violation.replace(/^\S+ /, ''))).toEqual(violations);
  });
});
