import { ok } from '../../domain/result';
import { decisionSeconds } from '../../lambda/authorize-request/environment';
import {
  createAccessTokenVerifier,
  createHandler as createAuthorizer,
} from '../../lambda/authorize-request/handler';
import { createUserActionVerifier } from '../../lambda/delete-user-group/delete-user-group';
import { createHandler as createDeletion } from '../../lambda/delete-user-group/handler';
import { gatewayResponse, groups, resource, start } from '../local/gateway/support';
import { recordLog } from '../support/log';
import {
  accessTokenClaims,
  createSigningKey,
  issuer,
  seconds,
  signJwt,
  signUserAction,
  userGroupId,
} from '../support/tokens';

const key = createSigningKey();
const jwks = { keys: [key.jwk] };
const log = recordLog();
const authorizer = createAuthorizer({
  verifyAccessToken: createAccessTokenVerifier(jwks, issuer, 86_400),
  log,
});
const deletion = createDeletion({
  responseHeaders: {},
  log,
  now: () => Date.now(),
  verifyUserAction: createUserActionVerifier(jwks, issuer),
  deleteUserGroup: async () => ok('deleted'),
});
const Denied = gatewayResponse('ACCESS_DENIED', '401', '{"code":"$context.authorizer.code"}');

afterEach(() => jest.restoreAllMocks());

/** The response of the gateway with both functions, as `STATUS CODE`. */
async function open() {
  const Group = resource('Resource', { ParentId: 'Groups', PathPart: '{userGroupId}' });
  const { send } = await start(
    { ...groups({ AuthorizerResultTtlInSeconds: decisionSeconds }), Group, Denied },
    { authorizer, groups: deletion },
    () => Date.now(),
  );
  return async (token: string) => {
    const headers = { authorization: `Bearer ${token}`, 'x-svc-useraction': signUserAction(key) };
    const { status, json } = await send(`/groups/${userGroupId}`, { method: 'DELETE', headers });
    return [status, json.code].join(' ').trim();
  };
}

it.each([20, decisionSeconds + 4, decisionSeconds + 30])(
  'a token that begins in %i seconds is refused until then, and not longer for the cache',
  async (wait) => {
    const answer = await open();
    const begin = seconds() + wait;
    const token = signJwt(key, accessTokenClaims({ nbf: begin }));
    expect(await answer(token)).toBe('401 token_not_yet_valid');
    jest.spyOn(Date, 'now').mockReturnValue((begin - 6) * 1000);
    expect(await answer(token)).toBe('401 token_not_yet_valid');
    jest.spyOn(Date, 'now').mockReturnValue(begin * 1000);
    expect(await answer(token)).toBe('200');
  },
);
