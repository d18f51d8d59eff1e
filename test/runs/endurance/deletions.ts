import { randomUUID } from 'node:crypto';
import { newId } from '../../../domain/ids';
import { deletion, send as sendRequest, type TokenMaker, type WireRequest } from '../../support/api';
import type { Organization } from '../../support/organization';
import type { Checks } from './checks';

/** Rows of the environment's database, read by the superuser. */
export type Query = <Row>(text: string, values: readonly unknown[]) => Promise<readonly Row[]>;

const oneOf = <T>(choices: readonly T[]): T => choices[Math.floor(Math.random() * choices.length)] as T;

const replayed = '403 user_action_replayed';

interface Unsent {
  readonly groupId: string;
  readonly userActionId: string;
  readonly wire: WireRequest;
  /** What it may get without a fault. */
  readonly expected: readonly string[];
}

interface Sent extends Unsent {
  readonly sentAt: Date;
  /** `200`, status and code of a refusal, or why there is no documented response. */
  readonly response: string;
  /** Whether a fault may have refused it. */
  readonly isDisturbed: boolean;
}

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
  const sent: Sent[] = [];
  /** Until then, deletions may be refused. Milliseconds since 1970. */
  let disturbedUntil = 0;

  async function make(
    expected: readonly string[],
    {
      groupId = groups.pop() as string | undefined,
      userActionId = randomUUID() as string,
      caller = callerId,
    } = {},
  ): Promise<Unsent> {
    if (!groupId) throw new Error('No groups are left: too many deletions failed, or the run is too long.');
    const own = { ...organization, callerId: caller, userGroupId: groupId };
    const userAction = await tokens.userAction(own, { jti: userActionId });
    const wire = deletion(own, await tokens.accessToken(own), userAction);
    return { groupId, userActionId, expected, wire };
  }

  async function send(unsent: Unsent): Promise<string> {
    const sentAt = new Date();
    const response = await sendRequest(baseUrl, unsent.wire).then(
      ({ status, body }) => (status === 200 ? '200' : `${status} ${body.code}`),
      ({ message }: Error) => message,
    );
    sent.push({ ...unsent, response, sentAt, isDisturbed: disturbedUntil >= sentAt.getTime() });
    return response;
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
      // One that was refused, or has no response, may still succeed.
      return recent.length === 0 ? [] : [{ ...oneOf(recent), expected: ['200', replayed] }];
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
    /** Compares the responses with one another and with the database. */
    async check(checks: Checks): Promise<void> {
      for (const { expected, response, isDisturbed, sentAt, wire } of sent)
        checks.hold(
          'responses are as expected, or refusals during a fault',
          expected.includes(response) || (isDisturbed && /^[45]\d\d [a-z_]+$/.test(response)),
          `${sentAt.toISOString()} ${wire.path}: ${response} instead of ${expected.join(' or ')}`,
        );

      const byGroup = groupBy(sent, ({ groupId }) => groupId);
      const states = await query<GroupState>(selectGroups, [[...byGroup.keys()], organizationId]);
      for (const { id, rows, deletedBy } of states) {
        const tried = byGroup.get(id) as Sent[];
        const permitted = tried.filter(({ expected }) => expected.includes('200'));
        const isGone =
          rows === '0 0 0' && permitted.some(({ userActionId }) => `${deletedBy}` === userActionId);
        const isWhole = rows === '1 3 1' && deletedBy.length === 0;
        checks.hold(
          'groups are whole, or gone by a permitted request that the audit has',
          isGone || (isWhole && tried.every(({ response }) => response !== '200')),
          `${id}: ${rows}, deleted by ${deletedBy} after ${tried.map(({ response }) => response)}`,
        );
      }

      const audited = await query<{ id: string; uses: number }>(selectUses, [organizationId]);
      const uses = new Map(audited.map((row) => [row.id, row.uses]));
      for (const [id, tried] of groupBy(sent, ({ userActionId }) => userActionId)) {
        const used = uses.get(id) ?? 0;
        const responses = tried.map(({ response }) => response);
        const successes = responses.filter((response) => response === '200').length;
        checks.hold(
          'user actions are used at most once',
          used <= 1 && successes <= used && !(used === 0 && responses.includes(replayed)),
          `${id}: ${used} times in the audit, responses ${responses}`,
        );
      }
    },
  };
}

/** As `Map.groupBy`, which Node.js 20 does not have. */
function groupBy(all: readonly Sent[], key: (each: Sent) => string): ReadonlyMap<string, readonly Sent[]> {
  const groups = new Map<string, Sent[]>();
  for (const each of all) groups.set(key(each), [...(groups.get(key(each)) ?? []), each]);
  return groups;
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

/** A group's rows that are left: itself, members, assignments; and the user actions that deleted it according to the audit. */
interface GroupState {
  readonly id: string;
  readonly rows: string;
  readonly deletedBy: readonly string[];
}

const selectGroups = `
  select id, concat_ws(' ',
    (select count(*) from user_groups where organization_id = $2 and user_group_id = id),
    (select count(*) from user_group_members where organization_id = $2 and user_group_id = id),
    (select count(*) from permission_assignments where organization_id = $2 and user_group_id = id)) as rows,
    (select coalesce(array_agg(user_action_id), '{}') from audit_records
      where subject_id = id and outcome = 'deleted') as "deletedBy"
  from unnest($1::text[]) as asked (id)`;

const selectUses = `
  select user_action_id as id, count(*)::int as uses from audit_records where organization_id = $1 group by user_action_id`;
