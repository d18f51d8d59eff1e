-- Organizations that a check makes and removes again. It is said when one is made, and can never be said afterwards.
alter table organizations add column throw_away boolean not null default false;

-- Runs as the schema's owner and deletes nothing but such organizations, so that run_operation needs no right to delete.
create function remove_throw_away_organizations(named text) returns setof text
language plpgsql security definer set search_path = pg_catalog, public, pg_temp
as $$
declare
  -- The lock keeps what is added to one of them at this moment from staying behind.
  doomed constant text[] := array(
    select organization_id from organizations
    where throw_away and (organization_id = named or created_at < now() - interval '1 day')
    for update);
begin
  delete from webhooks where organization_id = any (doomed);
  delete from user_groups where organization_id = any (doomed);
  delete from permissions where organization_id = any (doomed);
  delete from identities where organization_id = any (doomed);
  return query delete from organizations where organization_id = any (doomed) returning organization_id;
end
$$;

revoke execute on function remove_throw_away_organizations from public;
grant execute on function remove_throw_away_organizations to run_operation;
