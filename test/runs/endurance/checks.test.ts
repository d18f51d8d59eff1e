import { Checks } from '../long-run';
import { type Api, checkGroups, checkResponses, type Deletion } from './deletions';
import { checkMemory, enoughSamples } from './memory';

const replayed = '403 user_action_replayed';
const valid = (response: string, changes: Partial<Deletion> = {}): Deletion => ({
  ...{ kind: 'valid', groupId: 'ug-1', userActionId: 'action-1', signature: '', wire: { path: '/' } },
  ...{ expected: ['200'], response },
  ...changes,
});
const invalid = (response: string) => valid(response, { kind: 'invalid', expected: [replayed] });
const raced = (response: string) => valid(response, { kind: 'raced', expected: ['200', replayed] });
const unavailable = '503 database_unavailable';

it.each([
  ['as expected', valid('200'), false, 0],
  ['refused without a fault', valid(unavailable), false, 1],
  ['without a response', valid('none'), false, 1],
  ['successful and wrong', invalid('200'), false, 1],
  ['refused during a fault', valid(unavailable), true, 0],
  ['successful and wrong, during a fault', invalid('200'), true, 1],
  ['throttled in a steady flow', valid('429 too_many_requests'), false, 1],
] as const)('response: %s', (_, deletion, mayRefuse, violations) => {
  const checks = new Checks();
  checkResponses({ name: 'eu' } as Api, [deletion], checks, mayRefuse);
  expect(checks.violations).toHaveLength(violations);
});

describe('groups', () => {
  const whole = { groups: 1, members: 3, assignments: 1, deletions: [] as string[] };
  const gone = { groups: 0, members: 0, assignments: 0, deletions: ['action-1'] };

  it.each([
    ['gone after a 200', gone, 1, [valid('200')], 0],
    ['whole after a refusal', whole, 0, [valid(unavailable)], 0],
    ['gone though the response was lost', gone, 1, [valid('none')], 0],
    ['unknown', undefined, 0, [valid(unavailable)], 1],
    ['without its members', { ...whole, members: 0 }, 0, [valid(unavailable)], 1],
    ['gone but for an assignment', { ...gone, assignments: 1 }, 1, [valid('200')], 1],
    ['gone without a record', { ...gone, deletions: [] }, 0, [valid(unavailable)], 1],
    ['there after a 200', whole, 1, [valid('200')], 1],
    ['gone by an invalid request', gone, 1, [invalid('403 permission_missing')], 1],
    ['gone by another user action', { ...gone, deletions: ['other'] }, 1, [valid(unavailable)], 1],
    ['deleted by two records', { ...gone, deletions: ['action-1', 'action-1'] }, 2, [valid('200')], 2],
    ['one action, two 200', gone, 1, [valid('200'), valid('200')], 1],
    ['a 200 that is not in the audit', gone, 0, [valid('200')], 1],
    ['one action, used by one of two at once', gone, 1, [raced('200'), raced(replayed)], 0],
    ['one action, used by both of two at once', gone, 1, [raced('200'), raced('200')], 1],
    ['refused as a replay of nothing', whole, 0, [raced(replayed)], 1],
  ])('%s', async (_, state, uses, deletions, violations) => {
    const groups = {
      states: async () => new Map(state ? [['ug-1', state]] : []),
      countUses: async () => new Map([['action-1', uses]]),
    };
    const checks = new Checks();
    await checkGroups({ name: 'eu', groups } as unknown as Api, deletions, checks);
    expect(checks.violations).toHaveLength(violations);
  });
});

describe('memory', () => {
  type Mebibytes = (sample: number) => number;
  const violations = (held: Mebibytes, rss: Mebibytes = () => 100, count = 30) => {
    const checks = new Checks();
    const samples = Array.from({ length: count }, (_, index) => ({
      ...{ name: 'a function', pid: 1, held: held(index) * 2 ** 20, rss: rss(index) * 2 ** 20 },
    }));
    checkMemory(samples, checks);
    return checks.violations;
  };

  it.each<[string, Mebibytes, Mebibytes, string[]]>([
    ['stays', () => 20, () => 100, []],
    ['goes up and down', (sample) => 20 + (sample % 3), () => 100, []],
    ['fills a cache in the beginning', (sample) => Math.min(50, 20 + 4 * sample), () => 100, []],
    ['grows all the while', (sample) => 20 + sample, () => 100, ['held']],
    ['has resident memory that varies', () => 20, (sample) => 100 + 20 * (sample % 2) + sample, []],
    ['has resident memory that grows', () => 20, (sample) => 100 + 6 * sample, ['rss']],
  ])('%s', (_, held, rss, growing) => {
    expect(violations(held, rss)).toEqual(growing.map((kind) => expect.stringContaining(`, ${kind}:`)));
  });

  it('ignores processes with too few samples', () => {
    expect(violations((sample) => 20 + 10 * sample, undefined, enoughSamples - 1)).toEqual([]);
  });
});
