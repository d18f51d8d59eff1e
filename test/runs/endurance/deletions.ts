import { randomUUID } from 'node:crypto';
import { newId } from '../../../domain/ids';
import { deletion, deletionPath, send, type TokenMaker, type WireRequest } from '../../support/api';
import type { Organization } from '../../support/organization';
import { oneOf } from '../long-run';
import type { Deletion, GroupState } from './invariants';

/** Rows of the environment's database, read by the superuser. */
export type Query = <Row>(text: string, values: readonly unknown[]) => Promise<readonly Row[]>;

const replayed = '403 user_action_replayed';

type Sign = (organization: Organization) => Promise<WireRequest>;

/** Requests that must not succeed, and their refusals. */
const invalid: readonly { refusal: string; make(own: Organization, sign: Sign): Promise<WireRequest> }[] = [
  { refusal: '401 token_missing', make: async (own) => ({ path: deletionPath(own) }) },
  {
    refusal: '403 user_action_mismatch',
    make: async (own, sign) => ({
      ...(await sign({ ...own, userGroupId: newId('ug') })),
      path: deletionPath(own),
    }),
  },
  { refusal: '403 permission_missing', make: (own, sign) => sign({ ...own, callerId: own.endUserId }) },
];

type Unsent = Pick<Deletion, 'groupId' | 'userActionId' | 'wire' | 'expected'>;

/** Deletions of an environment's groups, and their responses. */
export class Deletions {
  readonly sent: Deletion[] = [];
  /** Groups that no request has named. */
  private readonly groups: string[] = [];
  private disturbances = 0;
  private isDisturbed = false;

  constructor(
    private readonly baseUrl: string,
    private readonly organization: Organization,
    private readonly tokens: TokenMaker,
    private readonly query: Query,
  ) {}

  /** Creates groups, each with three members and one assignment, up to this number of unused ones. */
  async prepare(count: number): Promise<void> {
    const ids = Array.from({ length: Math.max(0, count - this.groups.length) }, () => newId('ug'));
    const { organizationId, callerId, serviceAccountId, endUserId } = this.organization;
    const members = [callerId, serviceAccountId, endUserId];
    await this.query(insertGroups, [organizationId, ids, members, ids.map(() => newId('as'))]);
    this.groups.push(...ids);
  }

  /** Until `succeeds` is true, deletions may be refused. */
  disturb(): void {
    this.isDisturbed = true;
    this.disturbances += 1;
  }

  /** Sends a valid deletion. @returns whether it succeeded */
  async succeeds(): Promise<boolean> {
    const isSuccess = (await this.send(await this.make(['200']))).response === '200';
    if (isSuccess) this.isDisturbed = false;
    return isSuccess;
  }

  /** Sends the flow's next: half are valid, the others use a user action twice at once, replay one, or are invalid. */
  sendNext = async (): Promise<void> => {
    // A long fault has used them up.
    if (this.groups.length < 10) return;
    const chance = Math.random();
    const earlier = this.sent.slice(-100).filter(({ expected }) => expected.includes('200'));
    const unsent: Unsent[] = [];
    if (chance < 0.15) {
      const one = await this.make(['200', replayed]);
      const other = Math.random() < 0.5 ? { groupId: one.groupId } : {};
      unsent.push(one, await this.make(one.expected, { ...other, userActionId: one.userActionId }));
    } else if (chance < 0.3 && earlier.length > 0) {
      const first = oneOf(earlier);
      // A refused request, or one without a response, may still succeed, but only once.
      unsent.push({ ...first, expected: first.response === '200' ? [replayed] : ['200', replayed] });
    } else if (chance < 0.5) {
      const { refusal, make } = oneOf(invalid);
      unsent.push(await this.make([refusal], { make }));
    } else unsent.push(await this.make(['200']));
    await Promise.all(unsent.map((each) => this.send(each)));
  };

  async readGroups(): Promise<ReadonlyMap<string, GroupState>> {
    const ids = [...new Set(this.sent.map(({ groupId }) => groupId))];
    const rows = await this.query<GroupState & { id: string }>(selectGroups, [
      ids,
      this.organization.organizationId,
    ]);
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** @returns how often the audit has each user action */
  async readUses(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.query<{ id: string; uses: number }>(selectUses, [
      this.organization.organizationId,
    ]);
    return new Map(rows.map(({ id, uses }) => [id, uses]));
  }

  private async make(
    expected: readonly string[],
    {
      groupId = this.groups.pop() as string,
      userActionId = randomUUID() as string,
      make = (own: Organization, sign: Sign) => sign(own),
    } = {},
  ): Promise<Unsent> {
    const wire = await make({ ...this.organization, userGroupId: groupId }, async (own) =>
      deletion(
        own,
        await this.tokens.accessToken(own),
        await this.tokens.userAction(own, { jti: userActionId }),
      ),
    );
    return { groupId, userActionId, expected, wire };
  }

  private async send(unsent: Unsent): Promise<Deletion> {
    const { isDisturbed, disturbances } = this;
    const date = new Date().toISOString();
    const result = await send(this.baseUrl, unsent.wire).then(
      ({ status, body }) => ({ response: status === 200 ? '200' : `${status} ${body.code}` }),
      ({ message }: Error) => ({ error: message }),
    );
    const isDisturbedNow = isDisturbed || disturbances !== this.disturbances;
    const { groupId, userActionId, wire, expected } = unsent;
    const sent = { groupId, userActionId, wire, expected, date, ...result, isDisturbed: isDisturbedNow };
    this.sent.push(sent);
    return sent;
  }
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
