import type { DeletionRequest } from '../world/deletion-request';

/** One request to delete a group, and what came of it. */
export interface Attempt extends Omit<DeletionRequest, 'wire'> {
  readonly environment: string;
  /** `raced`: sent at the same time as another with the same user action. */
  readonly kind: 'due' | 'raced' | 'replayed' | 'refused';
  /** `200`, or status and code of the refusal, when nothing is in trouble. */
  readonly expected: readonly string[];
  /** Milliseconds since 1970. */
  readonly sentAt: number;
  answeredAt?: number;
  /** `200`, `503 database_unavailable`, …; `none` when no answer came. */
  answer?: string;
}

/** Whether the user action of this attempt was used up by it: a group that is not there uses it up as well. */
export const usesUp = ({ answer }: Attempt): boolean =>
  answer === '200' || answer === '404 user_group_not_found';
