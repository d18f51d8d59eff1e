import { newId } from '../../../domain/ids';
import { deletion, dueDeletion, type TokenMaker, type WireRequest } from '../../support/api';
import type { Organization } from '../../support/organization';

/** An invalid request. */
export interface Mistake {
  /** The expected response. */
  readonly answer: string;
  make(
    right: WireRequest,
    organization: Organization,
    tokens: TokenMaker,
  ): WireRequest | Promise<WireRequest>;
}

export const mistakes: readonly Mistake[] = [
  { answer: '401 token_missing', make: ({ path }) => ({ path }) },
  {
    answer: '403 user_action_missing',
    make: (right) => ({ ...right, headers: right.headers?.slice(0, 1) ?? [] }),
  },
  { answer: '400 query_not_allowed', make: (right) => ({ ...right, path: `${right.path}?force=true` }) },
  { answer: '400 body_not_allowed', make: (right) => ({ ...right, body: '{"force":true}' }) },
  { answer: '404 route_not_found', make: (right) => ({ ...right, method: 'PUT' }) },
  {
    answer: '401 token_expired',
    make: async (_, organization, tokens) => {
      const times = { iat: 1_700_000_000, nbf: 1_700_000_000, exp: 1_700_000_600 };
      const expired = await tokens.accessToken(organization, times);
      return deletion(organization, expired, await tokens.userAction(organization));
    },
  },
  {
    answer: '403 user_action_mismatch',
    make: async ({ path }, organization, tokens) => ({
      ...(await dueDeletion(tokens, { ...organization, userGroupId: newId('ug') })),
      path,
    }),
  },
  {
    answer: '403 caller_kind_not_allowed',
    make: async (_, organization, tokens) => {
      const endUser = { ...organization, callerId: organization.endUserId };
      const token = await tokens.accessToken(endUser, { kind: 'EndUser' });
      return deletion(endUser, token, await tokens.userAction(endUser));
    },
  },
  {
    // An end user whose token says that it is an employee.
    answer: '403 permission_missing',
    make: (_, organization, tokens) =>
      dueDeletion(tokens, { ...organization, callerId: organization.endUserId }),
  },
];
