-- The next free moment for a delivery that has waited, by webhook: one line for first attempts, one for repeated ones.
create table delivery_slots (
  webhook_id text not null references webhooks on delete cascade,
  repeated boolean not null,
  next_at timestamptz not null,
  primary key (webhook_id, repeated)
);

grant select, insert, update (next_at) on delivery_slots to deliver_webhook;
