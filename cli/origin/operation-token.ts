import { randomUUID } from 'node:crypto';
import type { Place } from './place';

/** What an operation of this command is for. */
export type Purpose =
  | { readonly kind: 'update'; readonly place: Place }
  /** Cancels an update to a place. */
  | { readonly kind: 'cancel' }
  /** Continues a rollback that failed without what failed in it. */
  | { readonly kind: 'skip' };

const prefix = 'wallet-move-origin';

/**
 * The client request token of an operation: what it is for, and that it is this one. CloudFormation takes a token once,
 * and keeps it with every event of the operation.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_StackEvent.html
 */
export function operationToken(purpose: Purpose): string {
  const { kind } = purpose;
  const words =
    kind === 'update' ? `to-${purpose.place.zone}${purpose.place.reserve ? '-reserve' : ''}` : kind;
  return `${prefix}-${words}-${randomUUID()}`;
}

/** What the operation with this token is for; `undefined` when it is not one of this command. */
export function purposeOf(token: string | undefined): Purpose | undefined {
  if (!token?.startsWith(`${prefix}-`)) return undefined;
  const [kind, zone, reserve] = token.slice(prefix.length + 1).split('-');
  if (kind === 'cancel' || kind === 'skip') return { kind };
  return kind === 'to' && zone
    ? { kind: 'update', place: { zone, reserve: reserve === 'reserve' } }
    : undefined;
}
