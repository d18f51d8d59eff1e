import { ok, type Result } from '../../domain/result';
import { type Caller, readCaller } from '../../domain/tokens';
import { type Refusal, refuse } from './http';
import { clockToleranceSeconds } from './verify-jwt';

/**
 * The caller whom the authorizer admitted, from its decision in the event's `requestContext.authorizer`. The decision may come from
 * the gateway's cache: the token's times are checked again. @param now seconds since 1970
 */
export function readDecision(
  context: Readonly<Record<string, unknown>>,
  now: number,
): Result<Caller, Refusal<'token_expired' | 'token_not_yet_valid'>> {
  const caller = readCaller(context);
  const [notBefore, expiresAt] = [Number(context.nbf), Number(context.exp)];
  if (!caller || ![notBefore, expiresAt].every(Number.isSafeInteger)) {
    throw new Error('The authorizer returned no caller');
  }
  if (expiresAt + clockToleranceSeconds < now) return refuse('token_expired');
  if (notBefore - clockToleranceSeconds > now) return refuse('token_not_yet_valid');
  return ok(caller);
}
