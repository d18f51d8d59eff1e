-- A user action signature is used once, however many function instances see it: the primary key decides.
create table used_user_actions (
  user_action_id text primary key check (length(user_action_id) between 1 and 128),
  organization_id text not null,
  identity_id text not null,
  request_id text not null,
  used_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create index on used_user_actions (expires_at);

-- What was done, and by whom. It outlives what it speaks of: no foreign keys, and no role may change a record.
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

create index on audit_records (organization_id, subject_id);

grant select, insert on used_user_actions to delete_user_group;
grant insert, select (user_action_id, outcome) on audit_records to delete_user_group;
grant select on audit_records to run_operation;
grant select, delete on used_user_actions to purge_expired;
