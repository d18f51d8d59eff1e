import { fail, type Result } from '../../domain/result';
import { tokenProblems } from '../tokens/token-problems';
import type { TokenRefused } from '../tokens/verify-jwt';
import type { AccessToken } from './access-token';

/** Whether a request may pass. A denial carries what the caller is told and, apart from it, the cause for the log. */
export function authorizeRequest(token: Result<AccessToken, TokenRefused>) {
  return token.ok ? token : fail({ ...tokenProblems[token.error.kind], cause: token.error.cause });
}
