import { deprecationHeaders } from '../../lib/api/deprecation-headers';
import { environments } from '../../lib/environments';
import { type Answer, sendPatiently, type WireRequest, walletDeletion } from '../support/api';
import { type LocalEnvironment, localEnvironment } from '../support/local-environment';
import type { Organization } from '../support/organization';

let local: LocalEnvironment;
beforeAll(async () => {
  local = await localEnvironment();
}, 90_000);

describe.each(environments)('in $name', ({ name, deprecation }) => {
  const { Deprecation: since, Sunset: sunset } = deprecationHeaders(deprecation);
  const does = deprecation ? 'says' : 'does not say';

  const ask = (request: WireRequest) => sendPatiently(local.outputs(name).ApiBaseUrl ?? '', request);

  const due = async () => walletDeletion(local, name, await local.walletJson<Organization>(name, 'seed'));
  /** A deletion with one of its two headers. */
  const withOnly = async (header: string) => {
    const { path, headers = [] } = await due();
    return ask({ path, headers: headers.filter(([each]) => each === header) });
  };

  it.each<[string, number, () => Promise<Answer>]>([
    ['a deletion', 200, async () => ask(await due())],
    ['a deletion that is refused', 403, () => withOnly('authorization')],
    [
      'a token that is refused',
      401,
      () => ask({ path: '/auth/user-groups/x', headers: [['authorization', 'Bearer x']] }),
    ],
    ['a token that is missing', 401, () => withOnly('x-svc-useraction')],
    ['an unknown path', 404, () => ask({ method: 'GET', path: '/wallets/' })],
    ['the webhook origins', 200, () => ask({ method: 'GET', path: '/webhook-origins' })],
  ])(`the response to %s ${does} that it is deprecated`, async (_, status, request) => {
    const { headers, ...answer } = await request();
    expect({ status: answer.status, since: headers.deprecation, sunset: headers.sunset }).toEqual({
      status,
      since,
      sunset,
    });
  });
});
