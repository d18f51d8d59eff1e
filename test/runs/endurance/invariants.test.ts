import { Checks } from '../long-run';
import { checkDelays, checkGroups, checkResponses, checkUserActions, type Deletion } from './invariants';

const replayed = '403 user_action_replayed';
const unavailable = '503 database_unavailable';
const whole = { groups: 1, members: 3, assignments: 1, deletions: [] };
const gone = { groups: 0, members: 0, assignments: 0, deletions: ['action-1'] };
const forbidden = { expected: ['403 permission_missing'] };

const sent = (response: string, changes: Partial<Deletion> = {}): Deletion => ({
  ...{ groupId: 'ug-1', userActionId: 'action-1', wire: { path: '/' }, expected: ['200'] },
  ...{ sentAt: 0, isDisturbed: false, ...(response && { response }), ...changes },
});
const responses = (deletion: Deletion) => (checks: Checks) => checkResponses([deletion], checks);
const groups =
  (state: typeof whole | typeof gone, ...deletions: Deletion[]) =>
  (checks: Checks) =>
    checkGroups(deletions, new Map([['ug-1', state]]), checks);
const used =
  (uses: number, ...codes: string[]) =>
  (checks: Checks) =>
    checkUserActions(
      codes.map((code) => sent(code)),
      new Map([['action-1', uses]]),
      checks,
    );
it.each<[violations: number, string, (checks: Checks) => void]>([
  [0, 'a refusal during a fault', responses(sent(unavailable, { isDisturbed: true }))],
  [1, 'no response', responses(sent(''))],
  [1, 'a refusal without a fault', responses(sent(unavailable))],
  [1, 'a forbidden success during a fault', responses(sent('200', { ...forbidden, isDisturbed: true }))],
  [0, 'a whole group after a refusal', groups(whole, sent(unavailable))],
  [0, 'a deleted group after a lost response', groups(gone, sent(''))],
  [1, 'a group without its members', groups({ ...whole, members: 0 }, sent(unavailable))],
  [1, 'a deleted group without an audit record', groups({ ...gone, deletions: [] }, sent('200'))],
  [1, 'a whole group after a 200', groups(whole, sent('200'))],
  [1, 'a group deleted by a forbidden request', groups(gone, sent('403', forbidden))],
  [0, 'an action that one of two used', used(1, '200', replayed)],
  [1, 'an action used twice', used(2, '200', unavailable)],
  [1, 'an action with two successes', used(1, '200', '200')],
  [1, 'a replay of an unused action', used(0, replayed)],
  [1, 'late deliveries', (checks) => checkDelays([2_000, 2_000], [100], checks)],
])('%d violations: %s', (violations, _, check) => {
  const checks = new Checks();
  check(checks);
  expect(checks.violations).toHaveLength(violations);
});
