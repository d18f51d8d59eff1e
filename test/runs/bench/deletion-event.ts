import { randomUUID } from 'node:crypto';
import type { variables } from '../../../lambda/delete-user-group/environment';
import { issuer, type SigningKey, signUserAction } from '../../support/tokens';
import { callerId, organizationId } from './fill';

/** What a function that deletes groups is told beside its database. */
export const deletionVariables = (key: SigningKey) =>
  ({
    TOKEN_ISSUER: issuer,
    USER_ACTION_KEYS: JSON.stringify({ keys: [key.jwk] }),
    RESPONSE_HEADERS: '{}',
  }) satisfies Record<(typeof variables)[number], string>;

/** The gateway's event of a deletion by the caller of an organization, signed just now. */
export function deletionEvent(key: SigningKey, organization: number, userGroupId: string): unknown {
  const caller = { sub: callerId(organization), org: organizationId(organization) };
  const htp = `/auth/user-groups/${userGroupId}`;
  return {
    httpMethod: 'DELETE',
    path: htp,
    body: null,
    isBase64Encoded: false,
    pathParameters: { userGroupId },
    multiValueQueryStringParameters: null,
    queryStringParameters: null,
    multiValueHeaders: { 'X-SVC-USERACTION': [signUserAction(key, { ...caller, htp, jti: randomUUID() })] },
    requestContext: {
      extendedRequestId: randomUUID(),
      authorizer: {
        ...caller,
        kind: 'CustomerEmployee',
        exp: String(Math.floor(Date.now() / 1_000) + 600),
      },
    },
  };
}
