import { type DatabaseRole, databaseRoles } from '../../../lambda/database/environment';
import { useMigratedDatabase } from '../../support/region-database';

const region = useMigratedDatabase();

/** Every privilege on a table; the columns in brackets, unless it covers all. */
const privileges: Readonly<Record<DatabaseRole, readonly string[]>> = {
  delete_user_group: [
    'INSERT audit_records',
    'SELECT audit_records (outcome user_action_id)',
    'SELECT identities',
    'SELECT permission_assignments',
    'SELECT permissions',
    'INSERT used_user_actions',
    'SELECT used_user_actions',
    'SELECT user_group_members',
    'DELETE user_groups',
    'SELECT user_groups',
  ],
  run_operation: [
    'SELECT audit_records',
    'INSERT identities',
    'SELECT identities',
    'INSERT organizations',
    'SELECT organizations',
    'INSERT permission_assignments',
    'SELECT permission_assignments',
    'INSERT permissions',
    'SELECT permissions',
    'INSERT user_group_members',
    'SELECT user_group_members',
    'INSERT user_groups',
    'SELECT user_groups',
    'SELECT webhook_attempts',
    'SELECT webhook_events (event_id organization_id kind accepted_at)',
    'DELETE webhooks',
    'INSERT webhooks',
    'SELECT webhooks',
    'UPDATE webhooks (url kinds secret_version rotated_at enabled disabled_reason disabled_at unhealthy_at)',
  ],
  fan_out_event: [
    'INSERT webhook_events',
    'SELECT webhook_events',
    'SELECT webhooks (webhook_id organization_id kinds enabled unhealthy_at created_at)',
  ],
  deliver_webhook: [
    'INSERT webhook_attempts',
    'SELECT webhooks (webhook_id organization_id url secret_version rotated_at enabled disabled_at unhealthy_at)',
    'UPDATE webhooks (enabled disabled_reason disabled_at unhealthy_at)',
  ],
  purge_expired: [
    'DELETE used_user_actions',
    'SELECT used_user_actions',
    'DELETE webhook_attempts',
    'SELECT webhook_attempts (webhook_attempt_id attempted_at)',
    'DELETE webhook_events',
    'SELECT webhook_events (event_id organization_id accepted_at)',
  ],
};

describe.each(databaseRoles)('the role %s', (role) => {
  it('has exactly the privileges on tables that its statements need', async () => {
    const held = await region.query`
      select privilege || ' ' || relname || case
        when has_table_privilege(${role}, pg_class.oid, privilege) then '' else ' (' || columns || ')' end as held
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
      order by relname, privilege`;
    expect(held.map((row) => row.held)).toEqual(privileges[role]);
  });

  it('may execute only its own functions of the schema', async () => {
    const callable = await region.query`
      select proname || case when prosecdef then ', with the rights of the owner' else '' end as may from pg_proc
      where pronamespace = 'public'::regnamespace and has_function_privilege(${role}, oid, 'EXECUTE')`;
    const own: Partial<Record<DatabaseRole, string>> = {
      run_operation: 'remove_ephemeral_organizations, with the rights of the owner',
      delete_user_group: 'delete_user_group',
    };
    expect(callable).toEqual(own[role] ? [{ may: own[role] }] : []);
  });

  it('is not a superuser, has no other role, owns nothing and cannot create anything', async () => {
    expect(
      await region.query`
        select rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls as powerful,
          exists (select from pg_auth_members where member = pg_roles.oid) as member,
          exists (select from pg_class where relowner = pg_roles.oid) as owner,
          has_schema_privilege(oid, 'public', 'CREATE') as creates,
          has_database_privilege(oid, current_database(), 'CREATE, TEMPORARY') as temporary
        from pg_roles where rolname = ${role}`,
    ).toEqual([{ powerful: false, member: false, owner: false, creates: false, temporary: false }]);
  });
});

it('the schema refuses a disabled webhook without a reason', async () => {
  const insert = region.query`
    insert into webhooks (webhook_id, organization_id, url, enabled, disabled_at)
    values ('wh-aaaaa-bbbbb-cccccccccccccc', 'or-1', 'https://example.com/', false, now())`;
  await expect(insert).rejects.toMatchObject({ sqlState: '23514' });
});
