import { randomUUID } from 'node:crypto';
import { newId } from '../../../domain/ids';
import { deletion, send as sendRequest, type TokenMaker } from '../../support/api';
import type { Organization } from '../../support/organization';
import type { Deletion, GroupState } from './invariants';

/** Rows of the environment's database, read by the superuser. */
export type Query = <Row>(text: string, values: readonly unknown[]) => Promise<readonly Row[]>;

export const oneOf = <T>(choices: readonly T[]): T =>
  choices[Math.floor(Math.random() * choices.length)] as T;

const replayed = '403 user_action_replayed';

type Unsent = Pick<Deletion, 'groupId' | 'userActionId' | 'wire' | 'expected'>;

export type Deletions = Awaited<ReturnType<typeof openDeletions>>;

/**
 * Deletions of an environment's groups, and their responses.
 *
 * @param count of groups to create, each with three members and one assignment
 */
export async function openDeletions(
  baseUrl: string,
  organization: Organization,
  tokens: TokenMaker,
  query: Query,
  count: number,
) {
  const { organizationId, callerId, serviceAccountId, endUserId } = organization;
  const groups = Array.from({ length: count }, () => newId('ug'));
  const assignments = groups.map(() => newId('as'));
  const members = [callerId, serviceAccountId, endUserId];
  await query(insertGroups, [organizationId, groups, members, assignments]);
  const sent: Deletion[] = [];
  /** Until then, deletions may be refused. Milliseconds since 1970. */
  let disturbedUntil = 0;

  async function make(
    expected: readonly string[],
    { groupId = groups.pop() as string, userActionId = randomUUID() as string, caller = callerId } = {},
  ): Promise<Unsent> {
    const own = { ...organization, callerId: caller, userGroupId: groupId };
    const userAction = await tokens.userAction(own, { jti: userActionId });
    return {
      ...{ groupId, userActionId, expected },
      wire: deletion(own, await tokens.accessToken(own), userAction),
    };
  }

  async function send(unsent: Unsent): Promise<string | undefined> {
    const sentAt = Date.now();
    const result = await sendRequest(baseUrl, unsent.wire).then(
      ({ status, body }) => ({ response: status === 200 ? '200' : `${status} ${body.code}` }),
      ({ message }: Error) => ({ error: message }),
    );
    sent.push({ ...unsent, ...result, sentAt, isDisturbed: disturbedUntil >= sentAt });
    return 'response' in result ? result.response : undefined;
  }

  const next: readonly (() => Promise<readonly Unsent[]>)[] = [
    async () => [await make(['200'])],
    async function useTwiceAtOnce() {
      const one = await make(['200', replayed]);
      const { userActionId, groupId } = one;
      return [one, await make(one.expected, { userActionId, ...(Math.random() < 0.5 && { groupId }) })];
    },
    async function replay() {
      const recent = sent.slice(-100).filter(({ expected }) => expected.includes('200'));
      return (
        oneOf(
          recent.map(({ groupId, userActionId, wire, response }) => {
            // A refused request, or one without a response, may still succeed, but only once.
            const expected = response === '200' ? [replayed] : ['200', replayed];
            return [{ groupId, userActionId, wire, expected }];
          }),
        ) ?? []
      );
    },
    async () => [await make(['403 permission_missing'], { caller: endUserId })],
  ];

  return {
    /** The flow's next requests: valid, with one user action for two at once, a replay, or without the permission. */
    async sendNext(): Promise<void> {
      // Recoveries have used them up.
      if (groups.length < 10) return;
      await Promise.all((await oneOf(next)()).map(send));
    },
    /** Until `succeeds` is true, deletions may be refused. */
    disturb(): void {
      disturbedUntil = Number.POSITIVE_INFINITY;
    },
    /** Sends a valid deletion. @returns whether it succeeded */
    async succeeds(): Promise<boolean> {
      const isSuccess = (await send(await make(['200']))) === '200';
      if (isSuccess) disturbedUntil = Date.now();
      return isSuccess;
    },
    /** All requests, and what the database has: the groups, and how often the audit has each user action. */
    async read() {
      const ids = [...new Set(sent.map(({ groupId }) => groupId))];
      const states = await query<GroupState & { id: string }>(selectGroups, [ids, organizationId]);
      const uses = await query<{ id: string; uses: number }>(selectUses, [organizationId]);
      return {
        sent,
        groups: new Map(states.map((state) => [state.id, state])),
        uses: new Map(uses.map((row) => [row.id, row.uses])),
      };
    },
  };
}

const insertGroups = `
  with made as (
    insert into user_groups (user_group_id, organization_id, name) select id, $1, id from unnest($2::text[]) as id
  ), joined as (
    insert into user_group_members (organization_id, user_group_id, identity_id)
    select $1, id, member from unnest($2::text[]) as id, unnest($3::text[]) as member
  )
  insert into permission_assignments (assignment_id, organization_id, permission_id, user_group_id)
  select assignment, $1, (select permission_id from permissions where organization_id = $1), id
  from unnest($4::text[], $2::text[]) as pairs (assignment, id)`;

const selectGroups = `
  select id,
    (select count(*)::int from user_groups where organization_id = $2 and user_group_id = id) as groups,
    (select count(*)::int from user_group_members where organization_id = $2 and user_group_id = id) as members,
    (select count(*)::int from permission_assignments where organization_id = $2 and user_group_id = id) as assignments,
    (select coalesce(array_agg(user_action_id), '{}') from audit_records
      where subject_id = id and outcome = 'deleted') as deletions
  from unnest($1::text[]) as asked (id)`;

const selectUses = `
  select user_action_id as id, count(*)::int as uses from audit_records where organization_id = $1 group by user_action_id`;
