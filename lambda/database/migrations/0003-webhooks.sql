create table webhooks (
  webhook_id text primary key check (webhook_id ~ '^wh-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{14,16}$'),
  organization_id text not null references organizations,
  url text not null check (length(url) between 1 and 2048),
  -- The kinds of events it wants; null is all of them.
  kinds text[] check (cardinality(kinds) > 0),
  -- The secret itself is derived from id and version by a KMS key, and stored nowhere.
  secret_version integer not null default 1 check (secret_version > 0),
  rotated_at timestamptz,
  enabled boolean not null default true,
  disabled_reason text,
  created_at timestamptz not null default now(),
  check (enabled = (disabled_reason is null)),
  check ((secret_version = 1) = (rotated_at is null))
);

create index on webhooks (organization_id) where enabled;

-- One row an attempt, for 31 days. It outlives its webhook: no foreign key.
create table webhook_attempts (
  webhook_attempt_id bigint generated always as identity primary key,
  event_id text not null,
  webhook_id text not null,
  delivery_id text not null,
  attempted_at timestamptz not null,
  duration_ms integer not null,
  -- The receiver's status; null when it gave none.
  status integer,
  outcome text not null check (outcome in ('delivered', 'failed', 'disabled', 'given_up')),
  reason text not null
);

create index on webhook_attempts (event_id, webhook_id, attempted_at);
create index on webhook_attempts (attempted_at);

grant select (webhook_id, organization_id, kinds, enabled) on webhooks to fan_out_event;

grant select (webhook_id, url, secret_version, rotated_at, enabled) on webhooks to deliver_webhook;
grant update (enabled, disabled_reason) on webhooks to deliver_webhook;
grant insert on webhook_attempts to deliver_webhook;

grant select (webhook_attempt_id, attempted_at), delete on webhook_attempts to purge_expired;

grant select, insert on webhooks to run_operation;
grant update (secret_version, rotated_at, enabled, disabled_reason) on webhooks to run_operation;
grant select on webhook_attempts to run_operation;
