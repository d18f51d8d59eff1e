/** A problem document's own part (RFC 9457). The contract is `lib/openapi.yaml`. */
export interface Problem {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
}

/** A method and a path of the API, and what its responses and log lines say. `lib/api/routes.ts` has what AWS needs for it. */
interface Route {
  readonly method: 'DELETE' | 'GET' | 'HEAD' | 'POST' | 'PUT';
  /** Has no slash at the end: API Gateway ignores one in requests. */
  readonly path: string;
  /** What its function's log lines and their codes (`…_COMPLETED`) begin with. Absent: API Gateway responds itself. */
  readonly log?: { readonly title: string; readonly code: string };
  /** Those that its function returns, by code. API Gateway's own are in `lib/api/gateway-responses.ts`. */
  readonly problems: Readonly<Record<string, Problem>>;
}

/** Why access tokens are refused: codes, each with the `detail` for the caller. */
export const tokenDetails = {
  token_malformed:
    'The Authorization header must contain one bearer token: a JWT signed with ES256, with the documented claims.',
  token_signature_invalid: 'The access token is not signed by a key of this environment.',
  token_expired: 'The access token has expired. Obtain a new one.',
  token_not_yet_valid: 'The access token is not valid yet. Check the clock.',
  token_wrong_region:
    'The access token belongs to another environment. Use the base address of that environment.',
} as const;

export const tokenRefusedLogCode = 'REQUEST_REFUSED';

const tokenProblem = (code: keyof typeof tokenDetails) => ({
  status: 401,
  title: 'Access token refused',
  detail: tokenDetails[code],
});

/** What a function behind the authorizer returns: the authorizer's decision may come from the gateway's cache. */
const tokenProblems = {
  token_malformed: tokenProblem('token_malformed'),
  token_expired: tokenProblem('token_expired'),
  token_not_yet_valid: tokenProblem('token_not_yet_valid'),
};

const userActionProblems = {
  user_action_missing: {
    status: 403,
    title: 'User action signature missing',
    detail: 'Sign the user action and send it in the X-SVC-USERACTION header.',
  },
  user_action_invalid: {
    status: 403,
    title: 'User action signature invalid',
    detail: 'The X-SVC-USERACTION header does not contain a valid user action signature of this environment.',
  },
  user_action_expired: {
    status: 403,
    title: 'User action signature expired',
    detail: 'The user action signature has expired. Sign the action again.',
  },
  user_action_mismatch: {
    status: 403,
    title: 'User action signature mismatch',
    detail: 'The user action signature is for another caller, organization, method, path or body.',
  },
  user_action_replayed: {
    status: 403,
    title: 'User action signature already used',
    detail: 'The user action signature has already been used. Sign the action again.',
  },
};

const internalError = {
  internal_error: {
    status: 500,
    title: 'Internal error',
    detail: 'Something went wrong on our side. Quote the requestId to support.',
  },
};

/** The path of the environment's own receiver, before a webhook's id: it answers 204 to a valid delivery from a published address. */
export const checkPath = '/webhook-origins/check';

export const routes = {
  deleteUserGroup: {
    method: 'DELETE',
    path: '/auth/user-groups/{userGroupId}',
    log: { title: 'Deletion', code: 'USER_GROUP_DELETION' },
    problems: {
      ...tokenProblems,
      ...userActionProblems,
      ...internalError,
      invalid_user_group_id: {
        status: 400,
        title: 'Invalid user group id',
        detail:
          'A user group id is 1 to 64 characters and matches ^ug-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{14,16}$.',
      },
      query_not_allowed: {
        status: 400,
        title: 'Query parameters not allowed',
        detail:
          'This operation takes no query parameters: the signature of the user action does not cover them.',
      },
      body_not_allowed: {
        status: 400,
        title: 'Request body not allowed',
        detail: 'This operation takes no request body: send none, or an empty JSON object.',
      },
      caller_kind_not_allowed: {
        status: 403,
        title: 'Caller kind not allowed',
        detail: 'An EndUser may not delete user groups.',
      },
      permission_missing: {
        status: 403,
        title: 'Permission missing',
        detail: 'The caller does not hold Auth:UserGroups:Delete, or is deactivated.',
      },
      user_group_not_found: {
        status: 404,
        title: 'User group not found',
        detail: "There is no such user group in the caller's organization.",
      },
      database_unavailable: {
        status: 503,
        title: 'Temporarily unavailable',
        detail:
          'The database is unreachable or did not respond in time. The deletion may have been carried out. Repeat it with a new user action signature.',
      },
    },
  },
  listWebhookOrigins: { method: 'GET', path: '/webhook-origins', problems: {} },
  headWebhookOrigins: { method: 'HEAD', path: '/webhook-origins', problems: {} },
  checkDelivery: {
    method: 'POST',
    path: `${checkPath}/{webhookId}`,
    log: { title: 'Check', code: 'DELIVERY_CHECK' },
    problems: {
      ...internalError,
      signature_invalid: {
        status: 401,
        title: 'Signature invalid',
        detail: 'No signature of the request is that of this webhook, its id, its time and its body.',
      },
      source_not_published: {
        status: 403,
        title: 'Source address not published',
        detail: 'The request does not come from an address that GET /webhook-origins lists.',
      },
      delivery_too_old: {
        status: 422,
        title: 'Delivery too old',
        detail:
          'The signed time is more than five minutes off, or a probe is more than two minutes old or from the future.',
      },
      secret_unavailable: {
        status: 503,
        title: 'Temporarily unavailable',
        detail: "The webhook's secret is not available at the moment.",
      },
    },
  },
} as const satisfies Readonly<Record<string, Route>>;

type Routes = typeof routes;
export type Operation = keyof Routes;
/** The operations to which a function responds. */
export type FunctionOperation = {
  [Name in Operation]: Routes[Name] extends Required<Route> ? Name : never;
}[Operation];

/** Why an operation is refused: a key of its problems. */
export type ProblemCode<Name extends Operation> = keyof Routes[Name]['problems'] & string;
export type UserActionProblemCode = keyof typeof userActionProblems;

/** The codes of the log lines that tell how a request ended. */
export const logCodesOf = (operation: FunctionOperation) => {
  const { code } = routes[operation].log;
  return { completed: `${code}_COMPLETED`, refused: `${code}_REFUSED`, failed: `${code}_FAILED` };
};
