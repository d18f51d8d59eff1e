import { type DatabaseRole, databaseRoles } from '../../../lambda/database/variables';
import { readSource } from '../../architecture/sources';
import { useMigratedDatabase } from '../../support/region-database';

const region = useMigratedDatabase();

type Row = Readonly<Record<string, unknown>>;

/** An id with a digit in it, so that two differ. */
const id = (prefix: string, digit = 1, length = 16) =>
  `${prefix}-aaaaa-bbbbb-${String(digit).repeat(length)}`;
const text = (length: number) => 'x'.repeat(length);
const [organization_id, identity_id, user_group_id, permission_id] = [id('or'), id('us'), id('ug'), id('pm')];
const now = '2026-11-20T12:00:00Z';
const use = { user_action_id: 'a', organization_id, identity_id, request_id: 'r' };
const attempt = { event_id: 'e', webhook_id: 'w', delivery_id: 'd', attempted_at: now, duration_ms: 1 };

/** A valid row of each table, in the order of their foreign keys. Two tables have a row of each kind. */
const valid: readonly (readonly [table: string, row: Row])[] = [
  ['organizations', { organization_id }],
  ['identities', { identity_id, organization_id, kind: 'EndUser' }],
  ['user_groups', { user_group_id, organization_id, name: 'Approvers' }],
  ['user_group_members', { organization_id, user_group_id, identity_id }],
  ['permissions', { permission_id, organization_id, name: 'Delete', operations: ['a'] }],
  ['permission_assignments', { assignment_id: id('as'), organization_id, permission_id, identity_id }],
  ['permission_assignments', { assignment_id: id('as', 2), organization_id, permission_id, user_group_id }],
  ['used_user_actions', { ...use, expires_at: now }],
  ['audit_records', { ...use, operation: 'o', subject_id: 's', outcome: 'deleted' }],
  ['webhooks', { webhook_id: id('wh'), organization_id, url: 'https://a' }],
  ['webhook_attempts', { ...attempt, series: '', number: 1, outcome: 'failed', reason: 'r' }],
  ['webhook_events', { event_id: 'e', organization_id, kind: 'k', accepted_at: now, body: '{}' }],
];

const wrongIds = (column: string, prefix: string): readonly Row[] => {
  const lengths = [id(prefix, 1, 13), id(prefix, 1, 17)];
  const wrong = [id('xx'), ...lengths, id(prefix).toUpperCase(), `${id(prefix)}\n`];
  return wrong.map((value) => ({ [column]: value }));
};

/** Another assignment, of the group or of a person. */
const third = { assignment_id: id('as', 3) };
const person = { ...third, user_group_id: null };
/** For each constraint and unique index, changes to the last valid row of its table, each of which it must refuse. */
const violations: Readonly<Record<string, readonly Row[]>> = {
  organizations_organization_id_check: wrongIds('organization_id', 'or'),
  identities_identity_id_check: wrongIds('identity_id', 'us'),
  identities_kind_check: [{ kind: 'Administrator' }],
  identities_organization_id_fkey: [{ identity_id: id('sa'), organization_id: id('or', 9) }],
  user_groups_user_group_id_check: wrongIds('user_group_id', 'ug'),
  user_groups_name_check: [{ name: '' }, { name: text(257) }],
  user_groups_organization_id_fkey: [{ user_group_id: id('ug', 2), organization_id: id('or', 9) }],
  user_groups_organization_id_name_key: [{ user_group_id: id('ug', 2) }],
  user_group_members_organization_id_user_group_id_fkey: [{ user_group_id: id('ug', 9) }],
  user_group_members_organization_id_identity_id_fkey: [{ identity_id: id('us', 9) }],
  permissions_permission_id_check: wrongIds('permission_id', 'pm'),
  permissions_name_check: [{ name: '' }, { name: text(257) }],
  permissions_organization_id_fkey: [{ permission_id: id('pm', 2), organization_id: id('or', 9) }],
  permissions_organization_id_name_key: [{ permission_id: id('pm', 2) }],
  permission_assignments_assignment_id_check: wrongIds('assignment_id', 'as'),
  permission_assignments_check: [{ identity_id }, { user_group_id: null }],
  permission_assignments_organization_id_permission_id_fkey: [{ ...third, permission_id: id('pm', 9) }],
  permission_assignments_organization_id_identity_id_fkey: [{ ...person, identity_id: id('us', 9) }],
  permission_assignments_organization_id_user_group_id_fkey: [{ ...third, user_group_id: id('ug', 9) }],
  permission_assignments_organization_id_identity_id_permissi_idx: [{ ...person, identity_id }],
  permission_assignments_organization_id_user_group_id_permis_idx: [third],
  used_user_actions_user_action_id_check: [{ user_action_id: '' }, { user_action_id: text(129) }],
  audit_records_user_action_id_key: [{}],
  webhooks_webhook_id_check: wrongIds('webhook_id', 'wh'),
  webhooks_organization_id_fkey: [{ webhook_id: id('wh', 2), organization_id: id('or', 9) }],
  webhooks_url_check: [{ url: '' }, { url: text(2_049) }],
  webhooks_kinds_check: [{ kinds: [] }],
  webhooks_secret_version_check: [{ secret_version: 0, rotated_at: now }],
  webhooks_check: [{ enabled: false, disabled_at: now }],
  webhooks_check1: [{ enabled: false, disabled_reason: 'gone' }],
  webhooks_check2: [{ secret_version: 2 }, { rotated_at: now }],
  webhooks_check3: [{ paused_until: now, pause_seconds: 30 }, { pause_reason: 'retry_after' }],
  webhooks_check4: [{ paused_until: now, pause_reason: 'no_response' }, { pause_seconds: 30 }],
  webhooks_pause_reason_check: [{ paused_until: now, pause_reason: 'other', pause_seconds: 30 }],
  webhooks_pause_seconds_check: [{ paused_until: now, pause_reason: 'no_response', pause_seconds: 0 }],
  webhook_attempts_delivery_id_series_number_idx: [{}],
  webhook_attempts_outcome_check: [{ outcome: 'lost' }],
};

function insert(table: string, row: Row) {
  const columns = Object.keys(row);
  const into = `insert into ${table} (${columns}) select ${columns} from jsonb_populate_record(null::${table}, `;
  return region.owner.execute({ text: [into, '::jsonb)'], values: [JSON.stringify(row)] });
}

beforeAll(async () => {
  for (const [table, row] of valid) await insert(table, row);
});

it('no other column may be null', async () => {
  const found = await region.query`
    select table_name::text as table, string_agg(column_name, ' ' order by column_name) as columns
    from information_schema.columns where table_schema = 'public' and is_nullable = 'YES' group by table_name`;
  expect(Object.fromEntries(found.map(({ table, columns }) => [table, columns]))).toEqual({
    audit_records: 'subject_name',
    permission_assignments: 'identity_id user_group_id',
    webhook_attempts: 'attempt copy next_attempt next_attempt_at number status',
    webhook_events: 'message_id',
    webhooks:
      'disabled_at disabled_reason kinds pause_reason pause_seconds paused_until rotated_at unhealthy_at',
  });
});

it('every check, unique and foreign key and unique index has a row above that violates it', async () => {
  const found = await region.query`
    select conname::text as name from pg_constraint
    where connamespace = 'public'::regnamespace
      -- Foreign keys and statements need most of them.
      and contype <> 'p'
      -- The target of a foreign key, without which the migration fails; its primary key is stricter.
      and not (contype = 'u' and exists (
        select from pg_constraint key where key.contype = 'f' and key.conindid = pg_constraint.conindid))
    union
    select relname::text from pg_index join pg_class on pg_class.oid = indexrelid
    where relnamespace = 'public'::regnamespace and indisunique
      and not exists (select from pg_constraint where conindid = indexrelid)
    order by 1`;
  expect(found.map(({ name }) => name)).toEqual(Object.keys(violations).sort());
});

it.each(Object.entries(violations))('%s refuses a row that violates it', async (name, changes) => {
  expect(changes).not.toEqual([]);
  // The last row of the table with the longest name that it begins with.
  const [[table, row] = ['', {}]] = valid
    .filter(([each]) => name.startsWith(`${each}_`))
    .reverse()
    .sort(([one], [other]) => other.length - one.length);
  for (const change of changes)
    await expect(insert(table, { ...row, ...change })).rejects.toThrow(`"${name}"`);
});

it('every function with the rights of the owner has a fixed search path, with temporary tables last', async () => {
  const found = await region.query`
    select distinct proconfig::text as settings from pg_proc where pronamespace = 'public'::regnamespace and prosecdef`;
  expect(found).toEqual([{ settings: '{"search_path=pg_catalog, public, pg_temp"}' }]);
});

/** What docs/integrating.md grants to the service's other parts. */
const page = readSource('docs/integrating.md');
const documented = [...page.matchAll(/^\| `(\w+)` \| (.*) \| `(DELETE.*)` \|$/gm)];

const state =
  'enabled disabled_reason disabled_at unhealthy_at paused_until pause_reason pause_seconds failures';
const result = 'attempted_at duration_ms status outcome reason next_attempt_at';
const next = 'copy attempt next_attempt';
/** Every privilege, by table; the columns in brackets, unless it covers all. */
const privileges: Readonly<Record<DatabaseRole | 'directory', object>> = {
  delete_user_group: {
    audit_records: 'INSERT, SELECT (outcome user_action_id)',
    identities: 'SELECT',
    permission_assignments: 'SELECT',
    permissions: 'SELECT',
    used_user_actions: 'INSERT, SELECT',
    user_group_members: 'SELECT',
    user_groups: 'DELETE, SELECT',
  },
  run_operation: {
    audit_records: 'SELECT',
    identities: 'INSERT, SELECT',
    organizations: 'INSERT, SELECT',
    permission_assignments: 'INSERT, SELECT',
    permissions: 'INSERT, SELECT',
    user_group_members: 'INSERT, SELECT',
    user_groups: 'INSERT, SELECT',
    webhook_attempts: 'SELECT',
    webhook_events: 'SELECT (event_id organization_id kind accepted_at)',
    webhooks: `DELETE, INSERT, SELECT, UPDATE (url kinds secret_version rotated_at ${state})`,
  },
  fan_out_event: {
    webhook_events: 'INSERT, SELECT',
    webhooks:
      'SELECT (webhook_id organization_id kinds enabled disabled_reason disabled_at unhealthy_at created_at paused_until)',
  },
  deliver_webhook: {
    webhook_attempts: `INSERT, SELECT (delivery_id ${result} series number ${next}), UPDATE (${result} ${next})`,
    webhooks: `SELECT (webhook_id organization_id url secret_version rotated_at ${state}), UPDATE (${state})`,
  },
  purge_expired: {
    used_user_actions: 'DELETE, SELECT',
    webhook_attempts: 'DELETE, SELECT (webhook_attempt_id attempted_at)',
    webhook_events: 'DELETE, SELECT (event_id organization_id accepted_at)',
  },
  probe_webhooks: {},
  directory: Object.fromEntries(documented.map(([, table, , held]) => [table, held])),
};

describe.each([...databaseRoles, 'directory'] as const)('the role %s', (role) => {
  it('has exactly the privileges on tables that its statements need', async () => {
    const held = await region.query`
      select relname::text, string_agg(privilege || case
        when has_table_privilege(${role}, pg_class.oid, privilege) then '' else ' (' || columns || ')' end,
        ', ' order by privilege) as held
      from pg_class,
        unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) privilege,
        lateral (
          select string_agg(attname, ' ' order by attnum) as columns from pg_attribute
          where attrelid = pg_class.oid and attnum > 0 and not attisdropped and case
            when privilege in ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')
              then has_column_privilege(${role}, attrelid, attnum, privilege)
            else has_table_privilege(${role}, attrelid, privilege) end
        ) allowed
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f') and columns is not null
      group by relname`;
    expect(Object.fromEntries(held.map((row) => [row.relname, row.held]))).toEqual(privileges[role]);
  });

  it('may execute only its own functions, has no other power or role, owns and creates nothing', async () => {
    const functions: Partial<Record<typeof role, string>> = {
      run_operation: 'remove_ephemeral_organizations, with the rights of the owner',
      delete_user_group: 'delete_user_group',
      probe_webhooks: 'ensure_probe, with the rights of the owner',
    };
    const found = await region.query`
      select rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls
          or exists (select from pg_auth_members where member = pg_roles.oid)
          or exists (select from pg_class where relowner = pg_roles.oid)
          or has_schema_privilege(oid, 'public', 'CREATE')
          or has_database_privilege(oid, current_database(), 'CREATE, TEMPORARY') as powerful,
        (
          select string_agg(proname || case when prosecdef then ', with the rights of the owner' else '' end, '; ')
          from pg_proc
          where pronamespace = 'public'::regnamespace and has_function_privilege(${role}, oid, 'EXECUTE')
        ) as executable
      from pg_roles where rolname = ${role}`;
    expect(found).toEqual([{ powerful: false, executable: functions[role] ?? null }]);
  });
});

// test/end-to-end/integrating.test.ts signs in as a role that is granted it.
it('docs/integrating.md lists columns that exist, with all that a row needs', async () => {
  expect(documented).toHaveLength(6);
  for (const [, table, columns] of documented) {
    const named = columns?.match(/\w+(?=`)/g) ?? [];
    const needed = valid.filter(([each]) => each === table).flatMap(([, row]) => Object.keys(row));
    expect(named).toEqual(expect.arrayContaining(needed));
    await region.owner.execute({ text: [`select concat(${named}) as row from ${table}`], values: [] });
  }
});
