-- The attempts of a delivery form one chain: a message that finds its request made sends only what follows it. A series is the
-- first delivery ('') or one redelivery; the requests of a series are numbered; a copy is the message that made a request. What
-- follows a failed attempt is next_attempt of the schedule, at next_attempt_at. Rows of the release before have no number.
alter table webhook_attempts
  add column series text not null default '',
  add column number integer,
  add column copy text,
  add column attempt integer,
  add column next_attempt integer;

-- Without the rows of the release before: building it takes no longer for a large table than reading that.
create unique index on webhook_attempts (delivery_id, series, number) where number is not null;

-- A success replaces the failure that another copy has recorded; what it replaces it by must be readable.
grant select (delivery_id, series, number, attempted_at, duration_ms, status, outcome, reason, copy, attempt, next_attempt,
  next_attempt_at) on webhook_attempts to deliver_webhook;
grant update (attempted_at, duration_ms, status, outcome, reason, copy, attempt, next_attempt, next_attempt_at)
  on webhook_attempts to deliver_webhook;
-- A message that comes back announces the disabling that its function may not have announced.
grant select (disabled_reason) on webhooks to deliver_webhook;
