-- When a failed delivery is tried again; null when it is not.
alter table webhook_attempts add column next_attempt_at timestamptz;
