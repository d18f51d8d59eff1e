import { checkAnswers, checkGroups, checkMemory, checkShapes } from './checks';
import type { Answered } from './generator';
import { enoughLooks } from './memory';

const groupId = 'ug-aaaaa-aaaaa-aaaaaaaaaaaaaaaa';
const problem = (status: number, code: string) =>
  JSON.stringify({
    type: `urn:wallet-infrastructure:problem:${code}`,
    title: 'Title',
    status,
    detail: 'Detail.',
    code,
    requestId: 'request',
  });

function answered(expected: string, status?: number, text = '{}'): Answered {
  const request = { expected, groupId, wire: { path: `/auth/user-groups/${groupId}` } };
  if (status === undefined) return { request };
  const contentType = status === 200 ? 'application/json' : 'application/problem+json';
  return { request, answer: { status, text, contentType, milliseconds: 1, at: 0 } };
}
const deleted = answered('200', 200);
const refused = answered('403 permission_missing', 403, problem(403, 'permission_missing'));
const throttled = answered('200', 429, problem(429, 'too_many_requests'));
const unanswered = answered('200');

describe('answers', () => {
  it('hold when each is what its request should have', () => {
    expect(checkAnswers([deleted, refused], 'steady')).toMatchObject({ times: 2, violations: [] });
  });

  it.each([
    [
      'another answer',
      answered('200', 403, problem(403, 'permission_missing')),
      '403 permission_missing instead of 200',
    ],
    ['no answer', unanswered, 'no answer instead of 200'],
    [
      'a success that is not due',
      answered('403 permission_missing', 200),
      '200 instead of 403 permission_missing',
    ],
    ['the throttle, in a steady flow', throttled, '429 too_many_requests instead of 200'],
  ])('are broken by %s', (_, wrong, violation) => {
    expect(checkAnswers([deleted, wrong], 'steady').violations).toEqual([violation]);
  });

  it('may come from the throttle in a burst', () => {
    expect(checkAnswers([deleted, throttled], 'burst').violations).toEqual([]);
  });

  it('are broken by a shape that is not documented', () => {
    expect(checkShapes([deleted, refused, throttled, unanswered]).violations).toEqual([]);
    expect(checkShapes([answered('200', 200, '{"deleted":true}')]).violations).toHaveLength(1);
    expect(checkShapes([answered('200', 500, 'Oops')]).violations).toHaveLength(1);
  });
});

describe('groups', () => {
  const whole = { groups: 1, members: 3, assignments: 1, deletions: [] };
  const gone = { groups: 0, members: 0, assignments: 0, deletions: ['action'] };
  it.each([
    ['gone after its deletion', deleted, gone, 0],
    ['whole after a refusal', refused, whole, 0],
    ['there after its deletion', deleted, whole, 1],
    ['gone after a refusal', refused, gone, 1],
    ['gone but for its members', deleted, { ...gone, members: 3 }, 1],
    ['deleted twice by the audit', deleted, { ...gone, deletions: ['action', 'another'] }, 1],
  ])('%s', (_, answer, state, violations) => {
    expect(checkGroups([answer], new Map([[groupId, state]])).violations).toHaveLength(violations);
  });

  it('that are unknown are a violation', () => {
    expect(checkGroups([refused], new Map()).violations).toHaveLength(1);
  });
});

describe('memory', () => {
  const mebibyte = 2 ** 20;
  type Mebibytes = (look: number) => number;
  const still = () => 100;
  const course = (held: Mebibytes, resident: Mebibytes = still, looks = 30) => ({
    name: 'a function',
    pid: 1,
    samples: Array.from({ length: looks }, (_, look) => ({
      name: 'a function',
      pid: 1,
      held: held(look) * mebibyte,
      resident: resident(look) * mebibyte,
    })),
  });

  it.each<[string, Mebibytes, Mebibytes, string[]]>([
    ['stays', () => 20, still, []],
    ['goes up and down', (look) => 20 + (look % 3), still, []],
    ['fills a cache in the beginning', (look) => Math.min(50, 20 + 4 * look), still, []],
    ['grows all the while', (look) => 20 + look, still, ['held']],
    ['is resident, more or less', () => 20, (look) => 100 + 20 * (look % 2) + look, []],
    ['is resident, ever more', () => 20, (look) => 100 + 6 * look, ['resident']],
  ])('that %s', (_, held, resident, growing) => {
    const { violations } = checkMemory([course(held, resident)]);
    expect(violations).toEqual(
      growing.map((kind) => expect.stringMatching(new RegExp(`^a function .* ${kind},`))),
    );
  });

  it('of processes that were too short-lived says nothing, and nothing is no proof', () => {
    const short = course((look) => 20 + 10 * look, still, enoughLooks - 1);
    expect(checkMemory([short, course(() => 1)]).violations).toEqual([]);
    expect(checkMemory([short]).violations).toEqual([`no process was looked at ${enoughLooks} times`]);
  });
});
