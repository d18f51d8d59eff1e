-- A webhook that hangs, or asks for time, is paused as a whole: its deliveries wait until paused_until, then one is the trial.
alter table webhooks
  add column paused_until timestamptz,
  -- no_response: the circuit breaker; retry_after: the receiver asked for it.
  add column pause_reason text check (pause_reason in ('no_response', 'retry_after')),
  -- Length of the pause. The breaker doubles it after each failed trial.
  add column pause_seconds integer check (pause_seconds > 0),
  -- Consecutive attempts without a response.
  add column failures integer not null default 0,
  add check ((paused_until is null) = (pause_reason is null)),
  add check ((paused_until is null) = (pause_seconds is null));

grant select (paused_until, pause_reason, pause_seconds, failures) on webhooks to deliver_webhook;
grant update (paused_until, pause_reason, pause_seconds, failures) on webhooks to deliver_webhook, run_operation;
grant select (paused_until) on webhooks to fan_out_event;
