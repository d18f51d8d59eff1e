create table organizations (
  organization_id text primary key check (organization_id ~ '^or-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{14,16}$'),
  -- Created by a check that removes it again. Set on creation only, never afterwards.
  ephemeral boolean not null default false,
  created_at timestamptz not null default now()
);

create table identities (
  identity_id text primary key check (identity_id ~ '^(us|sa)-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{14,16}$'),
  organization_id text not null references organizations,
  kind text not null check (kind in ('CustomerEmployee', 'EndUser', 'ServiceAccount')),
  active boolean not null default true,
  created_at timestamptz not null default now(),
  unique (organization_id, identity_id)
);

create table user_groups (
  user_group_id text primary key check (user_group_id ~ '^ug-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{14,16}$'),
  organization_id text not null references organizations,
  name text not null check (length(name) between 1 and 256),
  created_at timestamptz not null default now(),
  unique (organization_id, name),
  unique (organization_id, user_group_id)
);

-- The composite keys keep a member, its group and its organization together: no row can join two organizations.
-- The cascade runs with a fresh snapshot, so a member added while its group is being deleted is deleted too.
create table user_group_members (
  organization_id text not null,
  user_group_id text not null,
  identity_id text not null,
  created_at timestamptz not null default now(),
  primary key (organization_id, user_group_id, identity_id),
  foreign key (organization_id, user_group_id) references user_groups (organization_id, user_group_id) on delete cascade,
  foreign key (organization_id, identity_id) references identities (organization_id, identity_id) on delete cascade
);

create index on user_group_members (organization_id, identity_id);

create table permissions (
  permission_id text primary key check (permission_id ~ '^pm-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{14,16}$'),
  organization_id text not null references organizations,
  name text not null check (length(name) between 1 and 256),
  operations text[] not null,
  created_at timestamptz not null default now(),
  unique (organization_id, name),
  unique (organization_id, permission_id)
);

create table permission_assignments (
  assignment_id text primary key check (assignment_id ~ '^as-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{14,16}$'),
  organization_id text not null,
  permission_id text not null,
  identity_id text,
  user_group_id text,
  created_at timestamptz not null default now(),
  check (num_nonnulls(identity_id, user_group_id) = 1),
  foreign key (organization_id, permission_id) references permissions (organization_id, permission_id) on delete cascade,
  foreign key (organization_id, identity_id) references identities (organization_id, identity_id) on delete cascade,
  foreign key (organization_id, user_group_id) references user_groups (organization_id, user_group_id) on delete cascade
);

create unique index on permission_assignments (organization_id, identity_id, permission_id) where identity_id is not null;
create unique index on permission_assignments (organization_id, user_group_id, permission_id) where user_group_id is not null;
create index on permission_assignments (organization_id, permission_id);

-- A user action signature is used only once, across all function instances: the primary key enforces it.
create table used_user_actions (
  user_action_id text primary key check (length(user_action_id) between 1 and 128),
  organization_id text not null,
  identity_id text not null,
  request_id text not null,
  used_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create index on used_user_actions (expires_at);

-- Audit records outlive their subjects: no foreign keys, and no role may change a record.
create table audit_records (
  audit_record_id bigint generated always as identity primary key,
  occurred_at timestamptz not null default now(),
  organization_id text not null,
  identity_id text not null,
  operation text not null,
  subject_id text not null,
  subject_name text,
  outcome text not null,
  request_id text not null,
  user_action_id text not null unique
);

-- Queries are by subject alone: its organization may be deleted.
create index on audit_records (subject_id, audit_record_id);

create table webhooks (
  webhook_id text primary key check (webhook_id ~ '^wh-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{14,16}$'),
  organization_id text not null references organizations,
  url text not null check (length(url) between 1 and 2048),
  -- Subscribed kinds of events; null means all.
  kinds text[] check (cardinality(kinds) > 0),
  -- The secret itself is derived from id and version with a KMS key, and never stored.
  secret_version integer not null default 1 check (secret_version > 0),
  rotated_at timestamptz,
  enabled boolean not null default true,
  disabled_reason text,
  disabled_at timestamptz,
  -- When an attempt was last slow or failed; null is healthy. Until an attempt is good, deliveries take the second lane, those
  -- of a new webhook too: nobody knows yet how fast its receiver is.
  unhealthy_at timestamptz default '-infinity',
  created_at timestamptz not null default now(),
  check (enabled = (disabled_reason is null)),
  check (enabled = (disabled_at is null)),
  check ((secret_version = 1) = (rotated_at is null))
);

create index on webhooks (organization_id);

-- One row an attempt, for 31 days. It outlives its webhook: no foreign key.
create table webhook_attempts (
  webhook_attempt_id bigint generated always as identity primary key,
  event_id text not null,
  webhook_id text not null,
  delivery_id text not null,
  attempted_at timestamptz not null,
  duration_ms integer not null,
  -- The response's HTTP status; null without a response.
  status integer,
  outcome text not null check (outcome in ('delivered', 'failed', 'disabled', 'given_up')),
  reason text not null,
  -- Time of the retry; null if none.
  next_attempt_at timestamptz
);

create index on webhook_attempts (event_id, webhook_id, attempted_at);
create index on webhook_attempts (webhook_id, attempted_at);
create index on webhook_attempts (attempted_at);

-- Events that any webhook subscribed to, even a disabled one, for redelivery; for 14 days, the queues' retention period. The
-- body is text, because receivers get these bytes.
create table webhook_events (
  event_id text not null,
  organization_id text not null,
  kind text not null,
  accepted_at timestamptz not null,
  body text not null,
  primary key (event_id, organization_id)
);

create index on webhook_events (organization_id, accepted_at);
create index on webhook_events (accepted_at);

-- Deletes a group with one statement: all or nothing, one round trip. In a function, because a session keeps its plan: over
-- the Data API the statement was read and planned again for each deletion, most of its time. It has its caller's rights
-- alone. A later release that decides otherwise makes a function of another name: the release before still calls this one.
create function delete_user_group(
  the_organization_id text, the_identity_id text, the_kind text, the_operation text, the_user_group_id text,
  the_user_action_id text, the_expiry double precision, the_request_id text) returns text
-- The same plan for all values from the first call: the one that deletion-plan.test.ts checks.
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

-- Runs as the schema's owner and deletes nothing but such organizations, so that run_operation needs no right to delete.
create function remove_ephemeral_organizations(named text) returns setof text
language plpgsql security definer set search_path = pg_catalog, public, pg_temp
as $$
declare
  -- The lock prevents concurrent inserts, which would be left behind.
  doomed constant text[] := array(
    select organization_id from organizations
    where ephemeral and (organization_id = named or created_at < now() - interval '1 day')
    for update);
begin
  delete from webhooks where organization_id = any (doomed);
  delete from user_groups where organization_id = any (doomed);
  delete from permissions where organization_id = any (doomed);
  delete from identities where organization_id = any (doomed);
  return query delete from organizations where organization_id = any (doomed) returning organization_id;
end
$$;

-- Deleting a group needs no right on its members and assignments: the cascades run as the tables' owner.
grant select on identities, user_group_members, permissions, permission_assignments to delete_user_group;
grant select, delete on user_groups to delete_user_group;

-- No operation changes an identity: whoever could deactivate callers could also take them back.
grant select, insert on organizations, identities, permissions, permission_assignments, user_groups, user_group_members
  to run_operation;

grant select, insert on used_user_actions to delete_user_group;
grant insert, select (user_action_id, outcome) on audit_records to delete_user_group;
grant select on audit_records to run_operation;
grant select, delete on used_user_actions to purge_expired;

grant select (webhook_id, organization_id, kinds, enabled, unhealthy_at, created_at) on webhooks to fan_out_event;
-- The body stays with the function that sends it: operators list events, and do not read them.
grant select, insert on webhook_events to fan_out_event;

grant select (webhook_id, organization_id, url, secret_version, rotated_at, enabled, disabled_at, unhealthy_at)
  on webhooks to deliver_webhook;
grant update (enabled, disabled_reason, disabled_at, unhealthy_at) on webhooks to deliver_webhook;
grant insert on webhook_attempts to deliver_webhook;

grant select, insert, delete on webhooks to run_operation;
grant update (url, kinds, secret_version, rotated_at, enabled, disabled_reason, disabled_at, unhealthy_at)
  on webhooks to run_operation;
grant select on webhook_attempts to run_operation;
grant select (event_id, organization_id, kind, accepted_at) on webhook_events to run_operation;

grant select (webhook_attempt_id, attempted_at), delete on webhook_attempts to purge_expired;
grant select (event_id, organization_id, accepted_at), delete on webhook_events to purge_expired;

revoke execute on function delete_user_group, remove_ephemeral_organizations from public;
grant execute on function delete_user_group to delete_user_group;
grant execute on function remove_ephemeral_organizations to run_operation;
