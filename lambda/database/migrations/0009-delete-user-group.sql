-- Deletes a group with one statement: all or nothing, one round trip. In a function, because a session keeps its plan: over
-- the Data API the statement was read and planned again for each deletion, most of its time. It has its caller's rights
-- alone. A later release that decides otherwise makes a function of another name: the release before still calls this one.
create function delete_user_group(
  the_organization_id text, the_identity_id text, the_kind text, the_operation text, the_user_group_id text,
  the_user_action_id text, the_expiry double precision, the_request_id text) returns text
-- One plan for any values from the first call on: the one that deletion-plan.test.ts holds.
language plpgsql security invoker set plan_cache_mode = force_generic_plan
as $$
declare
  result text;
begin
  -- This user action's first use, if there was one, by its audit record, which outlives the row of the use: an id that a
  -- signer gives out twice is a replay on any day.
  with prior as (
    select coalesce(used.request_id = the_request_id and used.identity_id = the_identity_id, false) as same_request,
      audit.outcome
    from audit_records audit
    left join used_user_actions used on used.user_action_id = audit.user_action_id
    where audit.user_action_id = the_user_action_id
  ),
  -- The caller, when active and holding the permission now, directly or through a group; looked up from the caller and
  -- from each of the caller's groups (to which `offset 0` keeps the planner), because the organization may have any number
  -- of assignments.
  permitted as (
    select caller.organization_id, caller.identity_id
    from identities caller
    where caller.organization_id = the_organization_id
      and caller.identity_id = the_identity_id
      and caller.kind = the_kind
      and caller.kind in ('CustomerEmployee', 'ServiceAccount')
      and caller.active
      and (
        exists (
          select from permission_assignments assignment
          join permissions permission
            on permission.organization_id = assignment.organization_id
            and permission.permission_id = assignment.permission_id
          where assignment.organization_id = caller.organization_id
            and assignment.identity_id = caller.identity_id
            and the_operation = any (permission.operations)
        )
        or exists (
          select from user_group_members member
          where member.organization_id = caller.organization_id
            and member.identity_id = caller.identity_id
            and exists (
              select from permission_assignments assignment
              join permissions permission
                on permission.organization_id = assignment.organization_id
                and permission.permission_id = assignment.permission_id
              where assignment.organization_id = member.organization_id
                and assignment.user_group_id = member.user_group_id
                and the_operation = any (permission.operations)
              offset 0
            )
        )
      )
  ),
  -- The user action, used up only by a caller who may; the primary key lets one of many through.
  spent as (
    insert into used_user_actions (user_action_id, organization_id, identity_id, request_id, expires_at)
    select the_user_action_id, permitted.organization_id, permitted.identity_id, the_request_id,
      to_timestamp(the_expiry)
    from permitted
    where not exists (select from prior)
    on conflict (user_action_id) do nothing
    returning user_action_id, organization_id, identity_id, request_id
  ),
  -- The group; members and assignments go by cascade.
  deleted as (
    delete from user_groups user_group
    using spent
    where user_group.organization_id = spent.organization_id and user_group.user_group_id = the_user_group_id
    returning user_group.name
  ),
  audited as (
    insert into audit_records
      (organization_id, identity_id, operation, subject_id, subject_name, outcome, request_id, user_action_id)
    select spent.organization_id, spent.identity_id, the_operation, the_user_group_id,
      (select name from deleted),
      case when exists (select from deleted) then 'deleted' else 'user_group_not_found' end,
      spent.request_id, spent.user_action_id
    from spent
    returning outcome
  )
  select case
    when (select same_request from prior) then (select outcome from prior)
    when exists (select from prior) then 'user_action_replayed'
    when not exists (select from permitted) then 'permission_missing'
    else coalesce((select outcome from audited), 'contended')
  end
  into result;
  return result;
end
$$;

revoke execute on function delete_user_group from public;
grant execute on function delete_user_group to delete_user_group;
