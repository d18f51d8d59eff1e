import { deletion, openTokenMaker, send, type TokenMaker } from '../support/api';
import { type LocalEnvironment, localEnvironment } from '../support/local-environment';
import type { Organization } from '../support/organization';
import { oneOfEachAccess } from '../support/rows';

let local: LocalEnvironment;
beforeAll(async () => {
  local = await localEnvironment();
}, 90_000);

describe.each(oneOfEachAccess)(
  'in $name, by $databaseAccess access, many at once',
  ({ name, tokenIssuer, throttle }) => {
    /** Two hundred, or what the throttle allows beside other tests. */
    const many = Math.min(200, Math.floor(throttle.burst / 2));
    let tokens: TokenMaker;
    let organization: Organization;
    beforeAll(async () => {
      tokens = await openTokenMaker(local, name, tokenIssuer);
    });
    beforeEach(async () => {
      organization = await local.walletJson<Organization>(name, 'seed');
    });

    async function sendAll(actions: readonly string[]): Promise<Record<string, number>> {
      const token = await tokens.accessToken(organization);
      const answers = await Promise.all(
        actions.map((action) =>
          send(local.outputs(name).ApiBaseUrl ?? '', deletion(organization, token, action)),
        ),
      );
      const counts: Record<string, number> = {};
      for (const { status, body } of answers) {
        const name = body.code ?? String(status);
        counts[name] = (counts[name] ?? 0) + 1;
      }
      return counts;
    }

    it('delete one group exactly once', async () => {
      const actions = await Promise.all(Array.from({ length: many }, () => tokens.userAction(organization)));
      expect(await sendAll(actions)).toEqual({ 200: 1, user_group_not_found: many - 1 });
    });

    it('use one user action exactly once', async () => {
      const action = await tokens.userAction(organization);
      expect(await sendAll(Array.from({ length: many }, () => action))).toEqual({
        200: 1,
        user_action_replayed: many - 1,
      });
    });
  },
);
