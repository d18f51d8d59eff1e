-- For the service's other parts, which maintain organizations, identities, groups and permissions: docs/integrating.md. Each signs
-- in as a role of its own, a member of this one. Roles belong to the server: another database of it may have made this one.
if not exists (select from pg_roles where rolname = 'directory') then
  create role directory nologin;
end if;
execute format('grant connect on database %I to directory', current_database());

grant select, insert, update, delete on identities, user_groups, user_group_members, permissions, permission_assignments
  to directory;
-- Not `ephemeral`: a smoke test removes such organizations with all that they have.
grant select, insert (organization_id, created_at), update (created_at), delete on organizations to directory;
