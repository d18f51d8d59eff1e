import { environments } from '../../lib/environments';
import { sendPatiently, walletDeletion } from '../support/api';
import { type LocalEnvironment, localEnvironment } from '../support/local-environment';
import type { Organization } from '../support/organization';

let local: LocalEnvironment;
const names = environments.map(({ name }) => name);

beforeAll(async () => {
  local = await localEnvironment();
}, 90_000);

const seed = (environment: string, ...options: string[]) =>
  local.walletJson<Organization>(environment, 'seed', ...options);

/** Deletes the organization's group, with tokens of `environment`, at the API of `at`. */
async function remove(environment: string, seeded: Organization, at = environment, callerId?: string) {
  const request = await walletDeletion(local, environment, seeded, callerId);
  const { status, headers, body } = await sendPatiently(local.outputs(at).ApiBaseUrl ?? '', request);
  return { status, type: headers['content-type'], body };
}

describe.each(names)('in %s', (environment) => {
  const others = names.filter((name) => name !== environment);

  it('a user group is deleted: 200 and an empty object', async () => {
    const seeded = await seed(environment);
    expect(await remove(environment, seeded)).toEqual({
      status: 200,
      type: 'application/json',
      body: {},
    });
  });

  it('a service account deletes as well', async () => {
    const seeded = await seed(environment);
    const { status } = await remove(environment, seeded, environment, seeded.serviceAccountId);
    expect(status).toBe(200);
  });

  it('a deleted group is not found any more', async () => {
    const seeded = await seed(environment);
    await remove(environment, seeded);
    expect(await remove(environment, seeded)).toMatchObject({
      status: 404,
      type: 'application/problem+json',
      body: { code: 'user_group_not_found' },
    });
  });

  it("the group's name is free again once it is deleted, and not before", async () => {
    const seeded = await seed(environment);
    const again = ['--organization', seeded.organizationId, '--name', seeded.userGroupName];
    await expect(seed(environment, ...again)).rejects.toThrow('exited with 1');
    await remove(environment, seeded);
    const successor = await seed(environment, ...again);
    expect(successor).toMatchObject({ userGroupName: seeded.userGroupName });
    expect(successor.userGroupId).not.toBe(seeded.userGroupId);
  });

  it.each(others)('its tokens are refused in %s', async (other) => {
    const seeded = await seed(environment);
    expect(await remove(environment, seeded, other)).toMatchObject({
      status: 401,
      type: 'application/problem+json',
      body: { code: 'token_wrong_region' },
    });
  });

  it.each(others)('its groups are unknown in %s', async (other) => {
    const group = await seed(environment);
    const asked = { ...(await seed(other)), userGroupId: group.userGroupId };
    expect(await remove(other, asked)).toMatchObject({
      status: 404,
      body: { code: 'user_group_not_found' },
    });
    expect((await remove(environment, group)).status).toBe(200);
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
