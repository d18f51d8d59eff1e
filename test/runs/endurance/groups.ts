import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../../domain/ids';
import { openLocalDatabase } from '../../support/local-database';
import type { Organization } from '../../support/organization';

/** The remaining rows of a group, and the user actions that deleted it according to the audit. */
export interface GroupState {
  readonly groups: number;
  readonly members: number;
  readonly assignments: number;
  readonly deletions: readonly string[];
}

export const isWhole = ({ groups, members, assignments, deletions }: GroupState): boolean =>
  groups === 1 && members === 3 && assignments === 1 && deletions.length === 0;

export const isGone = ({ groups, members, assignments, deletions }: GroupState): boolean =>
  groups === 0 && members === 0 && assignments === 0 && deletions.length === 1;

/** Milliseconds: longer than any fault and its recovery. */
const patience = 60_000;

/** Groups of one organization, created and read directly in the database. */
export class Groups {
  constructor(
    private readonly stateDirectory: string,
    private readonly environment: string,
    readonly organization: Organization,
  ) {}

  /** Creates groups, each with three members and one assignment. @param ids @default - new ones */
  async make(
    count: number,
    ids: string[] = Array.from({ length: count }, () => newId('ug')),
  ): Promise<string[]> {
    const { organizationId, callerId, serviceAccountId, endUserId } = this.organization;
    const members = [callerId, serviceAccountId, endUserId];
    await this.query(insertGroups, [organizationId, ids, members, ids.map(() => newId('as'))]);
    return ids;
  }

  async remove(ids: readonly string[]): Promise<void> {
    await this.query('delete from user_groups where user_group_id = any($1)', [ids]);
  }

  async states(ids: readonly string[]): Promise<ReadonlyMap<string, GroupState>> {
    const rows = await this.query<GroupState & { id: string }>(selectStates, [ids]);
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** How often the audit has each of these user actions. */
  async countUses(userActionIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.query<{ id: string; uses: number }>(selectUses, [userActionIds]);
    return new Map(rows.map(({ id, uses }) => [id, uses]));
  }

  /** The statement's rows, by the superuser. It is repeated while a fault keeps the database from answering. */
  async query<Row>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    for (const deadline = Date.now() + patience; ; await sleep(200)) {
      try {
        const { client, close } = await openLocalDatabase(this.stateDirectory, this.environment);
        try {
          return (await client.query(text, [...values])).rows;
        } finally {
          await close().catch(() => undefined);
        }
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
    }
  }
}

const insertGroups = `
  with made as (
    insert into user_groups (user_group_id, organization_id, name) select id, $1, id from unnest($2::text[]) as id
    on conflict do nothing
  ), joined as (
    insert into user_group_members (organization_id, user_group_id, identity_id)
    select $1, id, member from unnest($2::text[]) as id, unnest($3::text[]) as member
    on conflict do nothing
  )
  insert into permission_assignments (assignment_id, organization_id, permission_id, user_group_id)
  select assignment, $1, (select permission_id from permissions where organization_id = $1), id
  from unnest($4::text[], $2::text[]) as pairs (assignment, id)
  on conflict do nothing`;

const selectStates = `
  select id,
    (select count(*)::int from user_groups where user_group_id = id) as groups,
    (select count(*)::int from user_group_members where user_group_id = id) as members,
    (select count(*)::int from permission_assignments where user_group_id = id) as assignments,
    (select coalesce(array_agg(user_action_id), '{}') from audit_records
      where subject_id = id and outcome = 'deleted') as deletions
  from unnest($1::text[]) as asked (id)`;

const selectUses = `
  select user_action_id as id, count(*)::int as uses from audit_records
  where user_action_id = any($1) group by user_action_id`;
