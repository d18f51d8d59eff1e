import type { Caller } from '../shared/caller';
import type { Result } from '../shared/result';
import type { TokenRefused } from '../tokens/verify-jwt';
import type { AccessToken } from './access-token';

/** Whether a request may pass. A refusal carries what the caller is told and, apart from it, the cause for the log. */
export type Decision =
  | { readonly allowed: true; readonly caller: Caller; readonly expiresAt: number }
  | { readonly allowed: false; readonly code: RefusalCode; readonly detail: string; readonly cause: string };

export type RefusalCode =
  | 'token_malformed'
  | 'token_signature_invalid'
  | 'token_expired'
  | 'token_not_yet_valid'
  | 'token_wrong_region';

const refusals: Record<TokenRefused['kind'], { code: RefusalCode; detail: string }> = {
  malformed: {
    code: 'token_malformed',
    detail:
      'The Authorization header must hold one bearer token: a JWT signed with ES256 with the documented claims.',
  },
  signature_invalid: {
    code: 'token_signature_invalid',
    detail: 'The access token is not signed by a key of this environment.',
  },
  expired: { code: 'token_expired', detail: 'The access token has expired. Obtain a new one.' },
  not_yet_valid: {
    code: 'token_not_yet_valid',
    detail: 'The access token is not valid yet. Check the clock.',
  },
  wrong_issuer: {
    code: 'token_wrong_region',
    detail: 'The access token belongs to another environment. Use the base address of its region.',
  },
};

export function authorizeRequest(token: Result<AccessToken, TokenRefused>): Decision {
  if (token.ok) return { allowed: true, ...token.value };
  return { allowed: false, ...refusals[token.error.kind], cause: token.error.cause };
}
