import { randomOf } from '../harness/random';
import type { Reaction } from '../world/receiver';

export type ReceiverKind =
  | 'healthy'
  /** Takes half of the time that it has. */
  | 'slow'
  /** 500, 503 or 429 at random, some with a `Retry-After`. */
  | 'failing'
  /** Leaves requests without an answer at random. */
  | 'hanging'
  /** Resets connections at random. */
  | 'resetting'
  /** Never answers. */
  | 'black-hole'
  /** Always 503. */
  | 'down'
  /** Always 410. */
  | 'gone';

const twenty: readonly ReceiverKind[] = [
  ...(['healthy', 'failing', 'gone', 'hanging', 'resetting', 'healthy', 'black-hole', 'healthy'] as const),
  ...(['down', 'slow', 'healthy', 'failing', 'healthy', 'hanging', 'healthy', 'resetting'] as const),
  ...(['healthy', 'failing', 'healthy', 'failing'] as const),
];

/** The kinds of so many receivers, of which one is gone. */
export function receiverKinds(count: number): readonly ReceiverKind[] {
  return Array.from({ length: count }, (_, index) => {
    const kind = twenty[index % twenty.length] as ReceiverKind;
    return index >= twenty.length && kind === 'gone' ? 'healthy' : kind;
  });
}

export const everAccepts = (kind: ReceiverKind): boolean => !['black-hole', 'down', 'gone'].includes(kind);

/**
 * What a receiver does with a request.
 *
 * @param request tells it from others: the reaction to it is always the same
 * @param timeout of the sender, in milliseconds
 */
export function react(kind: ReceiverKind, request: string, timeout: number): Reaction {
  const chance = randomOf(request);
  switch (kind) {
    case 'healthy':
      return { status: 204 };
    case 'slow':
      return { status: 200, after: timeout / 2 };
    case 'failing':
      if (chance < 0.1) return { status: 500 };
      if (chance < 0.2) return { status: 503, headers: { 'retry-after': '2' } };
      return { status: chance < 0.3 ? 429 : 200 };
    case 'hanging':
      return chance < 0.15 ? 'hang' : { status: 202 };
    case 'resetting':
      return chance < 0.3 ? 'reset' : { status: 200 };
    case 'black-hole':
      return 'hang';
    case 'down':
      return { status: 503 };
    case 'gone':
      return { status: 410 };
  }
}
