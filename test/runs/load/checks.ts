import { expectDocumented } from '../../support/openapi';
import type { Check } from '../harness/checks';
import { inWords as answerInWords } from '../world/deletion-request';
import { type GroupState, isGone, isWhole } from '../world/groups';
import type { Answered } from './generator';
import { enoughLooks, judge, type MemoryCourse } from './memory';

/** `200`, or status and code of a problem; `no answer`. */
export function inWords({ answer }: Answered): string {
  if (!answer) return 'no answer';
  try {
    return answerInWords(answer.status, JSON.parse(answer.text).code);
  } catch {
    return `${answer.status} ${answer.text.slice(0, 100)}`;
  }
}

/** What an API beyond its rate answers, so that a burst may meet it. */
export const isThrottled = (answered: Answered): boolean => inWords(answered) === '429 too_many_requests';

/** Every request got the expected answer; in a burst, the gateway's throttle will do. */
export function checkAnswers(answers: readonly Answered[], part: 'steady' | 'burst'): Check {
  const violations = answers
    .filter((answered) => inWords(answered) !== answered.request.expected)
    .filter((answered) => part === 'steady' || !isThrottled(answered))
    .map((answered) => `${inWords(answered)} instead of ${answered.request.expected}`);
  return { name: `answers as expected, ${part}`, times: answers.length, violations };
}

export function checkShapes(answers: readonly Answered[]): Check {
  const violations = answers.flatMap(({ request, answer }) => {
    if (!answer) return [];
    const { method = 'DELETE', path } = request.wire;
    const { status, contentType, text: body } = answer;
    try {
      expectDocumented({ method, path, status, contentType, body });
      return [];
    } catch (error) {
      return [(error as Error).message];
    }
  });
  return { name: 'answers in a documented shape', times: answers.length, violations };
}

/** A group is gone by the one deletion that was answered with 200, and whole otherwise. */
export function checkGroups(answers: readonly Answered[], states: ReadonlyMap<string, GroupState>): Check {
  const violations = answers.flatMap((answered) => {
    const { groupId } = answered.request;
    const state = states.get(groupId);
    const isRight = state && (inWords(answered) === '200' ? isGone(state) : isWhole(state));
    return isRight ? [] : [`${groupId} after ${inWords(answered)}: ${JSON.stringify(state)}`];
  });
  return {
    name: 'groups gone with everything, or whole, as the answer says',
    times: answers.length,
    violations,
  };
}

/** Each process that lived long enough holds no more at the end than in the middle. */
export function checkMemory(courses: readonly MemoryCourse[]): Check {
  const judged = judge(courses);
  const growing = judged.flatMap(({ name, pid, ...growth }) =>
    (['held', 'resident'] as const)
      .filter((kind) => growth[kind].isGrowing)
      .map((kind) => `${name} (${pid}): ${growth[kind].before} bytes ${kind}, then ${growth[kind].after}`),
  );
  const violations = judged.length > 0 ? growing : [`no process was looked at ${enoughLooks} times`];
  return { name: 'memory after garbage collection without growth', times: judged.length, violations };
}
