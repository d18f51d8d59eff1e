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
  const unchanged = { groups: 1, members: 3, assignments: 1, deletions: [] as string[] };
  const deleted = { groups: 0, members: 0, assignments: 0, deletions: ['action-1'] };

  it.each([
    ['deleted after a 200', deleted, 1, [valid('200')], 0],
    ['unchanged after a refusal', unchanged, 0, [valid(unavailable)], 0],
    ['deleted although the response was lost', deleted, 1, [valid('none')], 0],
    ['unknown', undefined, 0, [valid(unavailable)], 1],
    ['has lost its members', { ...unchanged, members: 0 }, 0, [valid(unavailable)], 1],
    ['deleted except for an assignment', { ...deleted, assignments: 1 }, 1, [valid('200')], 1],
    ['deleted without an audit record', { ...deleted, deletions: [] }, 0, [valid(unavailable)], 1],
    ['still exists after a 200', unchanged, 1, [valid('200')], 1],
    ['deleted by an invalid request', deleted, 1, [invalid('403 permission_missing')], 1],
    ['deleted by another user action', { ...deleted, deletions: ['other'] }, 1, [valid(unavailable)], 1],
    [
      'deleted according to two audit records',
      { ...deleted, deletions: ['action-1', 'action-1'] },
      2,
      [valid('200')],
      2,
    ],
    ['two 200 for one user action', deleted, 1, [valid('200'), valid('200')], 1],
    ['a 200 without an audit record', deleted, 0, [valid('200')], 1],
    ['one of two concurrent requests uses the user action', deleted, 1, [raced('200'), raced(replayed)], 0],
    ['both concurrent requests use the user action', deleted, 1, [raced('200'), raced('200')], 1],
    ['refused as a replay without a first use', unchanged, 0, [raced(replayed)], 1],
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
    ['varies', (sample) => 20 + (sample % 3), () => 100, []],
    ['fills a cache at the start', (sample) => Math.min(50, 20 + 4 * sample), () => 100, []],
    ['grows steadily', (sample) => 20 + sample, () => 100, ['held']],
    ['varies, resident', () => 20, (sample) => 100 + 20 * (sample % 2) + sample, []],
    ['grows steadily, resident', () => 20, (sample) => 100 + 6 * sample, ['rss']],
  ])('%s', (_, held, rss, growing) => {
    expect(violations(held, rss)).toEqual(growing.map((kind) => expect.stringContaining(`, ${kind}:`)));
  });

  it('ignores processes with too few samples', () => {
    expect(violations((sample) => 20 + 10 * sample, undefined, enoughSamples - 1)).toEqual([]);
  });
});
