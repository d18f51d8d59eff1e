import { type DatabaseRole, databaseRoles } from '../../../lambda/database/variables';
import { useMigratedDatabase } from '../../support/region-database';

const region = useMigratedDatabase();

/** Every privilege, by table; the columns in brackets, unless it covers all. */
const privileges: Readonly<Record<DatabaseRole, object>> = {
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
    webhooks:
      'DELETE, INSERT, SELECT, UPDATE (url kinds secret_version rotated_at enabled disabled_reason disabled_at unhealthy_at)',
  },
  fan_out_event: {
    webhook_events: 'INSERT, SELECT',
    webhooks:
      'SELECT (webhook_id organization_id kinds enabled disabled_reason disabled_at unhealthy_at created_at)',
  },
  deliver_webhook: {
    webhook_attempts: 'INSERT',
    webhooks:
      'SELECT (webhook_id organization_id url secret_version rotated_at enabled disabled_at unhealthy_at), UPDATE (enabled disabled_reason disabled_at unhealthy_at)',
  },
  purge_expired: {
    used_user_actions: 'DELETE, SELECT',
    webhook_attempts: 'DELETE, SELECT (webhook_attempt_id attempted_at)',
    webhook_events: 'DELETE, SELECT (event_id organization_id accepted_at)',
  },
  probe_webhooks: {},
};

describe.each(databaseRoles)('the role %s', (role) => {
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
    const functions: Partial<Record<DatabaseRole, string>> = {
      run_operation: 'remove_ephemeral_organizations, with the rights of the owner',
      delete_user_group: 'delete_user_group',
      probe_webhooks: 'ensure_probe, with the rights of the owner',
    };
    const executable = functions[role] ?? null;
    expect(
      await region.query`
        select rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls as powerful,
          exists (select from pg_auth_members where member = pg_roles.oid) as member,
          exists (select from pg_class where relowner = pg_roles.oid) as owner,
          has_schema_privilege(oid, 'public', 'CREATE') as creates,
          has_database_privilege(oid, current_database(), 'CREATE, TEMPORARY') as temporary,
          (
            select string_agg(proname || case when prosecdef then ', with the rights of the owner' else '' end, '; ')
            from pg_proc
            where pronamespace = 'public'::regnamespace and has_function_privilege(${role}, oid, 'EXECUTE')
          ) as executable
        from pg_roles where rolname = ${role}`,
    ).toEqual([
      { powerful: false, member: false, owner: false, creates: false, temporary: false, executable },
    ]);
  });
});
