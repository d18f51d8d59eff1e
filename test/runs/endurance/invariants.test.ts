import { Checks } from '../long-run';
import {
  checkDelays,
  checkGroups,
  checkMemory,
  checkResponses,
  checkUserActions,
  type Deletion,
} from './invariants';

const replayed = '403 user_action_replayed';
const unavailable = '503 database_unavailable';
const deletion = (response?: string, changes: Partial<Deletion> = {}): Deletion => ({
  ...{ groupId: 'ug-1', userActionId: 'action-1', wire: { path: '/' }, expected: ['200'], date: '' },
  ...{ ...(response && { response }), isDisturbed: false, ...changes },
});
const invalid = (response: string) => deletion(response, { expected: ['403 permission_missing'] });
const disturbed = { isDisturbed: true };

const whole = { groups: 1, members: 3, assignments: 1, deletions: [] };
const gone = { groups: 0, members: 0, assignments: 0, deletions: ['action-1'] };
const groups =
  (state: typeof whole | typeof gone, ...deletions: Deletion[]) =>
  (checks: Checks) =>
    checkGroups(deletions, new Map([['ug-1', state]]), checks);
const used =
  (uses: number, ...deletions: Deletion[]) =>
  (checks: Checks) =>
    checkUserActions(deletions, new Map([['action-1', uses]]), checks);
const responses = (each: Deletion) => (checks: Checks) => checkResponses([each], checks);
const memory = (mebibytes: (index: number) => number) => (checks: Checks) => {
  const sample = (_: unknown, index: number) => ({ process: 'f', bytes: mebibytes(index) * 2 ** 20 });
  checkMemory(Array.from({ length: 30 }, sample), checks);
};

it.each<[string, (checks: Checks) => void]>([
  ['a 200', responses(deletion('200'))],
  ['a refusal during a fault', responses(deletion(unavailable, disturbed))],
  ['a whole group after a refusal', groups(whole, deletion(unavailable))],
  ['a deleted group after a lost response', groups(gone, deletion())],
  ['an action that one of two used', used(1, deletion('200'), deletion(replayed))],
  ['memory of a cache', memory((index) => Math.min(50, 20 + 4 * index))],
])('%s is right', (_, check) => {
  const checks = new Checks();
  check(checks);
  expect(checks.violations).toEqual([]);
});

it.each<[string, (checks: Checks) => void]>([
  ['no response', responses(deletion())],
  ['a refusal without a fault', responses(deletion(unavailable))],
  ['an invalid request that succeeds during a fault', responses({ ...invalid('200'), ...disturbed })],
  ['a group without its members', groups({ ...whole, members: 0 }, deletion(unavailable))],
  ['a deleted group with an assignment', groups({ ...gone, assignments: 1 }, deletion('200'))],
  ['a deleted group without an audit record', groups({ ...gone, deletions: [] }, deletion('200'))],
  ['a whole group after a 200', groups(whole, deletion('200'))],
  ['a group deleted by an invalid request', groups(gone, invalid('403 permission_missing'))],
  ['an action used twice', used(2, deletion('200'), deletion(unavailable))],
  ['an action with two successes', used(1, deletion('200'), deletion('200'))],
  ['a 200 without an audit record', used(0, deletion('200'))],
  ['a replay of an unused action', used(0, deletion(replayed))],
  ['late deliveries', (checks) => checkDelays([1_000, 1_000], [100], checks)],
  ['memory that grows', memory((index) => 20 + index)],
])('%s is a violation', (_, check) => {
  const checks = new Checks();
  check(checks);
  expect(checks.violations).toHaveLength(1);
});
