import { fail, type Result } from '../shared/result';
import type { TokenRefused } from '../tokens/verify-jwt';
import type { AccessToken } from './access-token';

/** What the caller is told. */
const denials = {
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
} as const satisfies Record<TokenRefused['kind'], { readonly code: string; readonly detail: string }>;

/** Whether a request may pass. A denial carries what the caller is told and, apart from it, the cause for the log. */
export function authorizeRequest(token: Result<AccessToken, TokenRefused>) {
  return token.ok ? token : fail({ ...denials[token.error.kind], cause: token.error.cause });
}
