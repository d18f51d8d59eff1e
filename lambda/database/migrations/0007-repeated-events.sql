-- The SQS message that brought the event, which stays the same however often it is received: another one is the producer's repeat.
-- Null in rows of the release before.
alter table webhook_events add column message_id text;
