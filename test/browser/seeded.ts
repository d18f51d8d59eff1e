import { environment } from './dashboard';

export interface Seeded {
  readonly callerId: string;
  readonly endUserId: string;
  readonly userGroupId: string;
}

/** What a person types to delete a group. */
export interface Typed {
  readonly userGroupId: string;
  readonly token: string;
  readonly action: string;
}

export const seed = (name: string) => environment().walletJson<Seeded>(name, 'seed');

export async function credentials(
  name: string,
  { userGroupId, callerId }: Pick<Seeded, 'userGroupId' | 'callerId'>,
): Promise<Typed> {
  const request = ['--method', 'DELETE', '--path', `/auth/user-groups/${userGroupId}`];
  const [token, action] = await Promise.all([
    environment().wallet(name, 'token', '--caller', callerId),
    environment().wallet(name, 'user-action', '--caller', callerId, ...request),
  ]);
  return { userGroupId, token, action };
}
