-- Events that a webhook wanted, enabled or not, to deliver them again; for 14 days, as long as the queues keep a message. The
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

-- The body stays with the function that sends it: operators list events, and do not read them.
grant select, insert on webhook_events to fan_out_event;
grant select (event_id, organization_id, kind, accepted_at) on webhook_events to run_operation;
grant select (event_id, organization_id, accepted_at), delete on webhook_events to purge_expired;

-- An event is kept for disabled webhooks too.
drop index webhooks_organization_id_idx;
create index on webhooks (organization_id);

grant update (url, kinds), delete on webhooks to run_operation;

-- On a large table by hand before, which takes no lock: the same with "concurrently".
create index if not exists webhook_attempts_webhook_id_attempted_at_idx on webhook_attempts (webhook_id, attempted_at);
