import { setTimeout as sleep } from 'node:timers/promises';
import { environments } from '../../lib/environments';
import { type LocalEnvironment, localEnvironment } from '../support/local-environment';

interface Seeded {
  readonly organizationId: string;
  readonly callerId: string;
  readonly serviceAccountId: string;
  readonly userGroupId: string;
  readonly userGroupName: string;
}

let local: LocalEnvironment;
const names = environments.map(({ name }) => name);

beforeAll(async () => {
  local = await localEnvironment();
}, 90_000);

const seed = (environment: string, ...options: string[]) =>
  local.walletJson<Seeded>(environment, 'seed', ...options);

const pathOf = ({ userGroupId }: Seeded) => `/auth/user-groups/${userGroupId}`;

/** Headers of one deletion: an access token and a user action that has not been used. */
async function authorization(environment: string, seeded: Seeded, callerId = seeded.callerId) {
  const token = await local.wallet(environment, 'token', '--caller', callerId);
  const action = ['user-action', '--caller', callerId, '--method', 'DELETE', '--path', pathOf(seeded)];
  return {
    authorization: `Bearer ${token}`,
    'x-svc-useraction': await local.wallet(environment, ...action),
  };
}

interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly body: { readonly code?: string };
}

async function remove(environment: string, seeded: Seeded, headers: Record<string, string>): Promise<Answer> {
  const baseUrl = local.outputs(environment).ApiBaseUrl;
  const response = await fetch(`${baseUrl}${pathOf(seeded)}`, { method: 'DELETE', headers });
  if (response.status === 429) {
    // Other tests use up the environment's rate at the same time.
    await sleep(1_000);
    return remove(environment, seeded, headers);
  }
  const body = (await response.json()) as { readonly code?: string };
  return { status: response.status, type: response.headers.get('content-type'), body };
}

describe.each(names)('in %s', (environment) => {
  const others = names.filter((name) => name !== environment);

  it('a user group is deleted: 200 and an empty object', async () => {
    const seeded = await seed(environment);
    expect(await remove(environment, seeded, await authorization(environment, seeded))).toEqual({
      status: 200,
      type: 'application/json',
      body: {},
    });
  });

  it('a service account deletes as well', async () => {
    const seeded = await seed(environment);
    const headers = await authorization(environment, seeded, seeded.serviceAccountId);
    expect((await remove(environment, seeded, headers)).status).toBe(200);
  });

  it('a deleted group is not found any more', async () => {
    const seeded = await seed(environment);
    await remove(environment, seeded, await authorization(environment, seeded));
    expect(await remove(environment, seeded, await authorization(environment, seeded))).toMatchObject({
      status: 404,
      type: 'application/problem+json',
      body: { code: 'user_group_not_found' },
    });
  });

  it("the group's name is free again once it is deleted, and not before", async () => {
    const seeded = await seed(environment);
    const again = ['--organization', seeded.organizationId, '--name', seeded.userGroupName];
    await expect(seed(environment, ...again)).rejects.toThrow('exited with 1');
    await remove(environment, seeded, await authorization(environment, seeded));
    const successor = await seed(environment, ...again);
    expect(successor).toMatchObject({ userGroupName: seeded.userGroupName });
    expect(successor.userGroupId).not.toBe(seeded.userGroupId);
  });

  it.each(others)('its tokens are refused in %s', async (other) => {
    const seeded = await seed(environment);
    expect(await remove(other, seeded, await authorization(environment, seeded))).toMatchObject({
      status: 401,
      type: 'application/problem+json',
      body: { code: 'token_wrong_region' },
    });
  });

  it.each(others)('its groups are unknown in %s', async (other) => {
    const group = await seed(environment);
    const stranger = { ...(await seed(other)), userGroupId: group.userGroupId };
    expect(await remove(other, stranger, await authorization(other, stranger))).toMatchObject({
      status: 404,
      body: { code: 'user_group_not_found' },
    });
    expect((await remove(environment, group, await authorization(environment, group))).status).toBe(200);
  });

  it('anyone can ask for the webhook origin', async () => {
    const { ApiBaseUrl, WebhookOriginAddress } = local.outputs(environment);
    const response = await fetch(`${ApiBaseUrl}/webhook-origins`);
    expect(response.status).toBe(200);
    const { region, deprecation } = environments.find(({ name }) => name === environment) ?? {};
    expect(await response.json()).toEqual({
      environment,
      region,
      addresses: [`${WebhookOriginAddress}/32`],
      signatureHeaders: ['X-SVC-WEBHOOK-SIGNATURE', 'Svc-Signature'],
      deprecated: deprecation !== undefined,
      deprecation,
    });
  });
});
