import { randomOf } from '../../support/random';

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

export type Reaction =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly retryAfter?: string;
      readonly after?: number;
    }
  | { readonly kind: 'hang' }
  | { readonly kind: 'reset' };

/** What a receiver does with a request: always the same for the same seed, event and number of the request. */
export function react(
  kind: ReceiverKind,
  request: { readonly seed: number; readonly deliveryId: string; readonly number: number },
  timeout: number,
): Reaction {
  const chance = randomOf(`${request.seed} ${request.deliveryId} ${request.number}`);
  switch (kind) {
    case 'healthy':
      return { kind: 'answer', status: 204 };
    case 'slow':
      return { kind: 'answer', status: 200, after: timeout / 2 };
    case 'failing':
      return failAtRandom(chance);
    case 'hanging':
      return chance < 0.15 ? { kind: 'hang' } : { kind: 'answer', status: 202 };
    case 'resetting':
      return chance < 0.3 ? { kind: 'reset' } : { kind: 'answer', status: 200 };
    case 'black-hole':
      return { kind: 'hang' };
    case 'down':
      return { kind: 'answer', status: 503 };
    case 'gone':
      return { kind: 'answer', status: 410 };
  }
}

function failAtRandom(chance: number): Reaction {
  if (chance < 0.1) return { kind: 'answer', status: 500 };
  if (chance < 0.2) return { kind: 'answer', status: 503, retryAfter: '2' };
  if (chance < 0.3) return { kind: 'answer', status: 429 };
  return { kind: 'answer', status: 200 };
}
