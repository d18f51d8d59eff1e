/** What a caller is told of a refused access token, by the authorizer or by a function. */
export const tokenProblems = {
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
} as const;
