import type { Jwks } from 'aws-jwt-verify/jwk';
import { readVariables } from '../shared/environment';
import { createLog } from '../shared/log';
import { createAccessTokenVerifier } from './access-token';
import { defaultLifetimeSeconds, variables } from './environment';

export function createDependencies() {
  const { TOKEN_ISSUER, TOKEN_KEYS, TOKEN_LIFETIME } = readVariables(variables, {
    TOKEN_LIFETIME: String(defaultLifetimeSeconds),
    ...process.env,
  });
  return {
    verifyAccessToken: createAccessTokenVerifier(
      JSON.parse(TOKEN_KEYS) as Jwks,
      TOKEN_ISSUER,
      Number(TOKEN_LIFETIME),
    ),
    log: createLog('authorize-request'),
  };
}

export type Dependencies = ReturnType<typeof createDependencies>;
