import { deprecationHeaders } from '../../lib/api/deprecation-headers';
import { environments } from '../../lib/environments';
import { type Answer, sendPatiently, type WireRequest } from '../support/api';
import { type LocalEnvironment, localEnvironment } from '../support/local-environment';
import type { Organization } from '../support/organization';

let local: LocalEnvironment;
beforeAll(async () => {
  local = await localEnvironment();
}, 90_000);

type Headers = NonNullable<WireRequest['headers']>;

describe.each(environments)('in $name', ({ name, deprecation }) => {
  const { Deprecation: since, Sunset: sunset } = deprecationHeaders(deprecation);
  const does = deprecation ? 'says' : 'does not say';

  const ask = (request: WireRequest) => sendPatiently(local.outputs(name).ApiBaseUrl ?? '', request);

  /** A deletion that is due, as far as these headers go. */
  async function remove(...wanted: readonly ('token' | 'user-action')[]): Promise<Answer> {
    const { callerId, userGroupId } = await local.walletJson<Organization>(name, 'seed');
    const path = `/auth/user-groups/${userGroupId}`;
    const headers: Headers[number][] = [];
    if (wanted.includes('token')) {
      headers.push(['authorization', `Bearer ${await local.wallet(name, 'token', '--caller', callerId)}`]);
    }
    if (wanted.includes('user-action')) {
      const command = ['user-action', '--caller', callerId, '--method', 'DELETE', '--path', path];
      headers.push(['x-svc-useraction', await local.wallet(name, ...command)]);
    }
    return ask({ path, headers });
  }

  it.each<[string, number, () => Promise<Answer>]>([
    ['a deletion', 200, () => remove('token', 'user-action')],
    ['a deletion that is refused', 403, () => remove('token')],
    [
      'a token that is refused',
      401,
      () => ask({ path: '/auth/user-groups/x', headers: [['authorization', 'Bearer x']] }),
    ],
    ['a token that is missing', 401, () => remove('user-action')],
    ['an unknown path', 404, () => ask({ method: 'GET', path: '/wallets/' })],
    ['the webhook origins', 200, () => ask({ method: 'GET', path: '/webhook-origins' })],
  ])(`the answer to %s ${does} that it is deprecated`, async (_, status, request) => {
    const { headers, ...answer } = await request();
    expect({ status: answer.status, since: headers.deprecation, sunset: headers.sunset }).toEqual({
      status,
      since,
      sunset,
    });
  });
});
