import type { Client } from 'pg';
import { newId } from '../../../domain/ids';
import { openLocalDatabase } from '../../support/local-database';
import type { Organization } from '../../support/organization';

/** What is there of a group, and what the audit says of it. */
export interface GroupState {
  readonly groups: number;
  readonly members: number;
  readonly assignments: number;
  /** The user actions that deleted it, by the audit. */
  readonly deletions: readonly string[];
}

export const isWhole = ({ groups, members, assignments, deletions }: GroupState): boolean =>
  groups === 1 && members === 3 && assignments === 1 && deletions.length === 0;

export const isGone = ({ groups, members, assignments, deletions }: GroupState): boolean =>
  groups === 0 && members === 0 && assignments === 0 && deletions.length === 1;

/** Groups of one organization, made and read directly in the database. */
export class GroupStock {
  private readonly stock: string[] = [];

  constructor(
    private readonly stateDirectory: string,
    private readonly environment: string,
    readonly organization: Organization,
  ) {}

  /** One that no request has tried to delete; undefined when none is left. */
  take(): string | undefined {
    return this.stock.pop();
  }

  /** Makes as many as are missing, each with three members and one assignment. */
  async fill(count: number): Promise<void> {
    const ids = Array.from({ length: Math.max(0, count - this.stock.length) }, () => newId('ug'));
    await this.query((client) => insert(client, this.organization, ids));
    this.stock.push(...ids);
  }

  /** Makes a group again that was deleted, so that a second use of a user action would be seen. */
  async revive(ids: readonly string[]): Promise<void> {
    await this.query((client) => insert(client, this.organization, ids));
  }

  async remove(ids: readonly string[]): Promise<void> {
    await this.query((client) =>
      client.query('delete from user_groups where user_group_id = any($1)', [ids]),
    );
  }

  async look(ids: readonly string[]): Promise<ReadonlyMap<string, GroupState>> {
    const { rows } = await this.query((client) => client.query(stateOfGroups, [ids]));
    return new Map(rows.map(({ id, ...state }) => [id, state]));
  }

  /** How often the audit has each of these user actions. */
  async countUses(userActionIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const { rows } = await this.query((client) =>
      client.query(
        `select user_action_id as id, count(*)::int as uses from audit_records
        where user_action_id = any($1) group by user_action_id`,
        [userActionIds],
      ),
    );
    return new Map(rows.map(({ id, uses }) => [id, uses]));
  }

  private async query<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const { client, close } = await openLocalDatabase(this.stateDirectory, this.environment);
    try {
      return await work(client);
    } finally {
      await close();
    }
  }
}

const stateOfGroups = `
  select id,
    (select count(*)::int from user_groups where user_group_id = id) as groups,
    (select count(*)::int from user_group_members where user_group_id = id) as members,
    (select count(*)::int from permission_assignments where user_group_id = id) as assignments,
    (select coalesce(array_agg(user_action_id), '{}') from audit_records
      where subject_id = id and outcome = 'deleted') as deletions
  from unnest($1::text[]) as asked (id)`;

async function insert(
  client: Client,
  { organizationId, callerId, serviceAccountId, endUserId }: Organization,
  ids: readonly string[],
): Promise<void> {
  const assignments = ids.map(() => newId('as'));
  await client.query(
    `with made as (
      insert into user_groups (user_group_id, organization_id, name) select id, $1, id from unnest($2::text[]) as id
    ), joined as (
      insert into user_group_members (organization_id, user_group_id, identity_id)
      select $1, id, member from unnest($2::text[]) as id, unnest($3::text[]) as member
    )
    insert into permission_assignments (assignment_id, organization_id, permission_id, user_group_id)
    select assignment, $1, (select permission_id from permissions where organization_id = $1), id
    from unnest($4::text[], $2::text[]) as pairs (assignment, id)`,
    [organizationId, ids, [callerId, serviceAccountId, endUserId], assignments],
  );
}
